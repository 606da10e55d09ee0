import { type ModelServer, serveModel } from "./model-server.ts";

const acts = [
  [{ navigate: { url: "data:text/html,<title>shop</title><h1>Kettle, 42 EUR</h1>", new_tab: false } }],
  [{ done: { text: "42 EUR", success: true } }],
];

/** A model for browser-use, in the protocol of OpenAI: opens the page of the guide's task, and then answers. */
export function serveShopperModel(): Promise<ModelServer<unknown>> {
  return serveModel((_request, count) => {
    const thoughts = { thinking: "", evaluation_previous_goal: "", memory: "", next_goal: "" };
    const content = JSON.stringify({ ...thoughts, action: acts[Math.min(count, acts.length - 1)] });
    const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }];
    return { id: String(count), object: "chat.completion", created: 0, model: "scripted", choices };
  });
}
