import Anthropic from "@anthropic-ai/sdk";
import type { BetaMessage, BetaToolResultBlockParam, MessageCreateParams } from "@anthropic-ai/sdk/resources/beta";
import { browserTools, computerTool, toolResult } from "@shoal/client/anthropic";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import type { Site } from "../testing/site.ts";
import { type ModelServer, serveModel } from "./model-server.ts";
import { serveShop } from "./shop.ts";

let site: Site;
beforeAll(async () => {
  site = await serveShop();
});
afterAll(() => site.close());
const test = useService(() => ["--allow-private-hosts", site.host]);

type Step = readonly [tool: string, input: object] | string;
type Result = BetaToolResultBlockParam;

/** A model that answers with the steps of a script, each of which sees the result of the previous one. */
async function scripted(script: readonly ((result: Result) => Step)[]) {
  const server = await serveModel<MessageCreateParams>(({ messages, model }, at) => {
    const last = messages.at(-1)?.content;
    const result = typeof last === "object" && last[0]?.type === "tool_result" ? last[0] : ({} as Result);
    const step = script[at]?.(result) ?? "";
    return {
      id: `msg_${String(at)}`,
      type: "message",
      role: "assistant",
      model,
      content: [
        typeof step === "string"
          ? { type: "text", text: step, citations: null }
          : { type: "tool_use", id: `toolu_${String(at)}`, name: step[0], input: step[1] },
      ],
      stop_reason: typeof step === "string" ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  });
  return { server, client: new Anthropic({ baseURL: server.baseURL, apiKey: "key", maxRetries: 0 }) };
}

const textOf = ({ content }: Result) =>
  typeof content === "string"
    ? content
    : (content ?? []).map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
const answerOf = ({ content }: BetaMessage) => content.map((part) => (part.type === "text" ? part.text : "")).join("");
const request = { model: "scripted", max_tokens: 1000, messages: [{ role: "user" as const, content: "Order." }] };

/** Sizes of PNG pictures in results. */
function sizesIn({ requests }: ModelServer<MessageCreateParams>): string[] {
  return requests.flatMap(({ messages }) => {
    const content = messages.at(-1)?.content;
    const result = typeof content === "object" ? content[0] : undefined;
    const image = result?.type === "tool_result" && typeof result.content === "object" ? result.content[0] : undefined;
    if (image?.type !== "image" || image.source.type !== "base64") return [];
    const png = Buffer.from(image.source.data, "base64");
    return [`${String(png.readUInt32BE(16))}x${String(png.readUInt32BE(20))}`];
  });
}

it("orders in a shop with the SDK's tool runner and text tools", async () => {
  await using browser = await test.shoal.browsers.create();
  const { client, server } = await scripted([
    () => ["navigate", { url: site.url }],
    () => ["fill", { role: "textbox", name: "Tins", text: "two tins" }],
    () => ["click", { ref: "e99999" }],
    (result) => {
      expect(result.is_error).toBe(true);
      expect(textOf(result)).toContain("e99999");
      return ["click", { rolle: "button" }];
    },
    (result) => {
      expect(result.is_error).toBe(true);
      expect(textOf(result)).toContain("unknown field rolle");
      return ["click", { role: "button", name: "Order" }];
    },
    () => ["screenshot", {}],
    (result) => {
      expect(textOf(result)).toBe("image");
      return ["read", { content: "all" }];
    },
    (result) => `Done: ${textOf(result)}`,
  ]);
  await using _ = server;
  const answer = await client.beta.messages.toolRunner({ ...request, tools: browserTools(browser) });
  expect(answerOf(answer)).toContain("Ordered two tins");
  expect(server.requests[0]?.tools?.[0]).toEqual({
    type: "custom",
    name: "snapshot",
    description: expect.any(String) as string,
    input_schema: expect.objectContaining({ type: "object" }) as object,
  });
});

it.each([
  ["of the size of the screen", { width: 1280, height: 800 }, "1280x800"],
  ["of a larger screen, shrunk, with converted coordinates", { width: 1920, height: 1080 }, "1429x804"],
])("orders with mouse and keyboard by pictures %s", async (_title, viewport, size) => {
  await using browser = await test.shoal.browsers.create({ viewport });
  await browser.goto(site.url);
  const scale = Number(size.split("x")[0]) / viewport.width;
  const at = (x: number, y: number) => [Math.round(x * scale), Math.round(y * scale)];
  const { client, server } = await scripted([
    () => ["computer", { action: "screenshot" }],
    () => ["computer", { action: "left_click", coordinate: at(100, 10) }],
    () => ["computer", { action: "type", text: "nine tins" }],
    () => ["computer", { action: "key", text: "ctrl+a" }],
    () => ["computer", { action: "type", text: "two tins" }],
    () => ["computer", { action: "left_click", coordinate: [9999, 5] }],
    (result) => {
      expect(result.is_error).toBe(true);
      expect(textOf(result)).toContain(`outside the screen of ${size.replace("x", "×")} pixels`);
      return ["computer", { action: "zoom", region: [0, 0, ...at(320, 200)] }];
    },
    () => ["computer", { action: "scroll", coordinate: at(50, 50), scroll_direction: "down", scroll_amount: 2 }],
    () => ["computer", { action: "left_click_drag", start_coordinate: at(20, 300), coordinate: at(60, 300) }],
    () => ["computer", { action: "hold_key", text: "shift", duration: 0.1 }],
    () => ["computer", { action: "wait", duration: 0.1 }],
    () => ["computer", { action: "explode" }],
    (result) => {
      expect(textOf(result)).toContain("Unknown action explode");
      return ["computer", { action: "mouse_move", coordinate: at(200, 130) }];
    },
    () => ["computer", { action: "left_mouse_down" }],
    () => ["computer", { action: "left_mouse_up" }],
    () => ["computer", { action: "cursor_position" }],
    (result) => `Done: ${textOf(result)}`,
  ]);
  await using _ = server;
  const computer = await computerTool(browser, { settleMs: 0 });
  const answer = await client.beta.messages.toolRunner({
    ...request,
    tools: [computer],
    betas: ["computer-use-2025-11-24"],
  });
  const [x, y] = at(200, 130);
  expect(answerOf(answer)).toBe(`Done: X=${String(x)},Y=${String(y)}`);
  expect(await browser.evaluate("document.body.textContent")).toContain("Ordered two tins");
  const [width, height] = size.split("x").map(Number);
  expect(server.requests[0]?.tools).toEqual([
    {
      type: "computer_20251124",
      name: "computer",
      display_width_px: width,
      display_height_px: height,
      enable_zoom: true,
    },
  ]);
  expect(sizesIn(server)).toEqual([...Array<string>(5).fill(size), "320x200", ...Array<string>(7).fill(size)]);
});

it("answers tool calls in an own loop, also unknown ones", async () => {
  await using browser = await test.shoal.browsers.create();
  const tools = browserTools(browser, { include: ["navigate"] });
  expect(await toolResult(tools, { id: "t1", name: "navigate", input: { url: site.url } })).toMatchObject({
    type: "tool_result",
    tool_use_id: "t1",
    content: [{ type: "text", text: expect.stringContaining("Shop") as string }],
  });
  expect(await toolResult(tools, { id: "t2", name: "format_disk", input: {} })).toEqual({
    type: "tool_result",
    tool_use_id: "t2",
    is_error: true,
    content: "Unknown tool format_disk. The tools are navigate.",
  });
  const stop = AbortSignal.abort(new Error("stopped"));
  await expect(
    toolResult(tools, { id: "t3", name: "navigate", input: { url: site.url } }, { signal: stop }),
  ).rejects.toThrow("stopped");
});
