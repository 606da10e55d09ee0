import { eventually } from "@shoal/testkit";
import type { Instance } from "../interface/placement.ts";
import { once } from "node:events";
import { WebSocket } from "ws";

interface Reply {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export interface TestPage {
  readonly targetId: string;
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  open(url: string): Promise<{ readonly error: string; readonly shown: string }>;
  evaluate(expression: string): Promise<unknown>;
}

const shownText =
  'new Promise((resolve) => { const show = () => resolve(document.body?.innerText ?? ""); document.readyState === "complete" ? show() : addEventListener("load", show); })';

/** @param existing - id of a page, in place of a new one. */
export async function openPage(instance: Instance, existing?: string): Promise<TestPage> {
  const connection = await instance.connect();
  const socket = new WebSocket("ws://localhost/cdp", { createConnection: () => connection });
  await once(socket, "open");
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.on("message", (data: Buffer) => {
    const reply = JSON.parse(data.toString()) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  let count = 0;
  async function call(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++count;
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    });
    waiting.delete(id);
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
    return reply.result ?? {};
  }

  const { targetId } =
    existing === undefined ? await call("Target.createTarget", { url: "about:blank" }) : { targetId: existing };
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  const send = (method: string, params: object = {}) => call(method, params, String(sessionId));
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    return (result as { value?: unknown }).value;
  };
  return {
    targetId: String(targetId),
    send,
    evaluate,
    async open(url) {
      const { errorText, loaderId } = await send("Page.navigate", { url });
      // The answer comes before the new document replaces the old one.
      await eventually("the document", async () => {
        const { frameTree } = await send("Page.getFrameTree");
        return (frameTree as { frame: { loaderId: string } }).frame.loaderId === loaderId;
      });
      return { error: typeof errorText === "string" ? errorText : "", shown: String(await evaluate(shownText)) };
    },
  };
}
