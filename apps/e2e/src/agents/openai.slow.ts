import { browserTools, computerTools, type OpenAITools, SafetyCheckError } from "@shoal/client/openai";
import OpenAI from "openai";
import type {
  ComputerAction,
  Response,
  ResponseCreateParams,
  ResponseInputItem,
  ResponseOutputItem,
  Tool,
} from "openai/resources/responses/responses";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import type { Site } from "../testing/site.ts";
import { serveModel } from "./model-server.ts";
import { serveShop } from "./shop.ts";

let site: Site;
beforeAll(async () => {
  site = await serveShop();
});
afterAll(() => site.close());
const test = useService(() => ["--allow-private-hosts", site.host]);

type Input = readonly ResponseInputItem[];

const done = (text: string): ResponseOutputItem => ({
  type: "message",
  id: "msg",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const use = (name: string, input: object): ResponseOutputItem => ({
  type: "function_call",
  id: "fc",
  call_id: `call_${name}`,
  name,
  arguments: JSON.stringify(input),
  status: "completed",
});
const computer = (...actions: ComputerAction[]): ResponseOutputItem => ({
  type: "computer_call",
  id: "cc",
  call_id: "call_computer",
  actions,
  pending_safety_checks: [],
  status: "completed",
});

/** The loop of a program over a model that answers with the items of a script. */
async function run({ answer, tools }: OpenAITools<Tool>, script: readonly ((input: Input) => ResponseOutputItem)[]) {
  await using server = await serveModel<ResponseCreateParams>(({ input }, at) => ({
    id: `resp_${String(at)}`,
    object: "response",
    status: "completed",
    output: [script[at]?.(input as Input) ?? done("")],
  }));
  const openai = new OpenAI({ baseURL: server.baseURL, apiKey: "key", maxRetries: 0 });
  let input: ResponseInputItem[] = [{ role: "user", content: "Order." }];
  let response: Response | undefined;
  while (input.length > 0) {
    response = await openai.responses.create({
      model: "scripted",
      tools,
      input,
      ...(response !== undefined && { previous_response_id: response.id }),
    });
    input = await answer(response);
  }
  return { text: response?.output_text ?? "", requests: server.requests };
}

function outputIn(input: Input): string {
  const item = input[0];
  if (item?.type !== "function_call_output") expect.fail(JSON.stringify(input));
  return typeof item.output === "string" ? item.output : item.output.map(({ type }) => type).join("\n");
}

/** The size of the PNG picture in an answer. */
function sizeIn(input: Input): string {
  const item = input[0];
  if (item?.type !== "computer_call_output") expect.fail(JSON.stringify(input));
  const [head = "", data = ""] = item.output.image_url?.split(",") ?? [];
  expect(head).toBe("data:image/png;base64");
  const png = Buffer.from(data, "base64");
  return `${String(png.readUInt32BE(16))}x${String(png.readUInt32BE(20))}`;
}

it("orders in a shop with functions", async () => {
  await using browser = await test.shoal.browsers.create();
  const { requests, text } = await run(browserTools(browser), [
    () => use("navigate", { url: site.url }),
    () => use("fill", { role: "textbox", name: "Tins", text: "two tins" }),
    () => use("click", { ref: "e99999" }),
    (input) => {
      expect(outputIn(input)).toMatch(/^The tool failed[\s\S]*e99999/);
      return use("click", { rolle: "button" });
    },
    (input) => {
      expect(outputIn(input)).toContain("unknown field rolle");
      return use("format_disk", {});
    },
    (input) => {
      expect(outputIn(input)).toContain("Unknown tool format_disk");
      return use("click", { role: "button", name: "Order" });
    },
    () => use("screenshot", {}),
    (input) => {
      expect(outputIn(input)).toBe("input_image");
      return use("read", { content: "all" });
    },
    (input) => done(outputIn(input)),
  ]);
  expect(text).toContain("Ordered two tins");
  expect(requests[0]?.tools?.[0]).toMatchObject({ type: "function", name: "snapshot", strict: false });
});

it.each([
  ["of the size of the screen", { width: 1280, height: 800 }, "1280x800"],
  ["of a larger screen, shrunk, with converted coordinates", { width: 2560, height: 1440 }, "2048x1152"],
])("orders with mouse and keyboard by pictures %s", async (_title, viewport, size) => {
  await using browser = await test.shoal.browsers.create({ viewport });
  await browser.goto(site.url);
  const scale = Number(size.split("x")[0]) / viewport.width;
  const at = (x: number, y: number) => ({ x: Math.round(x * scale), y: Math.round(y * scale) });
  const { requests, text } = await run(await computerTools(browser, { settleMs: 0, include: ["read"] }), [
    () => computer({ type: "screenshot" }),
    (input) => {
      expect(sizeIn(input)).toBe(size);
      return computer(
        { type: "click", button: "left", ...at(100, 10) },
        { type: "type", text: "nine tins" },
        { type: "keypress", keys: ["CTRL", "A"] },
        { type: "type", text: "two" },
        { type: "keypress", keys: ["SPACE"] },
        { type: "type", text: "tins" },
      );
    },
    () => computer({ type: "click", button: "left", x: 9999, y: 5 }),
    (input) => {
      expect(sizeIn(input)).toBe(size);
      expect(JSON.stringify(input[1])).toContain(`outside the screen of ${size.replace("x", "×")} pixels`);
      return computer(
        { type: "scroll", ...at(50, 50), scroll_x: 0, scroll_y: 100 },
        { type: "drag", path: [at(20, 300), at(40, 310), at(60, 300)] },
        { type: "move", ...at(60, 310) },
        { type: "double_click", keys: null, ...at(60, 300) },
      );
    },
    // As `computer_use_preview` sends it.
    () =>
      ({
        ...(computer() as object),
        action: { type: "click", button: "left", ...at(200, 130) },
        actions: undefined,
      }) as unknown as ResponseOutputItem,
    () => use("read", { content: "all" }),
    (input) => done(outputIn(input)),
  ]);
  expect(text).toContain("Ordered two tins");
  expect(requests[0]?.tools).toMatchObject([{ type: "computer" }, { type: "function", name: "read" }]);
});

it("executes actions with safety checks only after an acknowledgement", async () => {
  await using browser = await test.shoal.browsers.create();
  await browser.goto(site.url);
  const checks = [{ id: "sc_1", code: "malicious_instructions", message: "The page instructs the model." }];
  const call = {
    ...(computer({ type: "click", button: "left", x: 200, y: 130 }) as object),
    pending_safety_checks: checks,
  } as ResponseOutputItem;
  const seen: unknown[] = [];
  for (const acknowledge of [undefined, () => false]) {
    const { answer } = await computerTools(browser, { settleMs: 0, ...(acknowledge && { acknowledge }) });
    const error: unknown = await answer({ output: [call] }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SafetyCheckError);
    expect((error as SafetyCheckError).message).toContain("The page instructs the model.");
  }
  expect(await browser.evaluate("document.body.textContent")).not.toContain("Ordered");
  const { answer } = await computerTools(browser, {
    settleMs: 0,
    acknowledge: (given) => {
      seen.push(...given);
      return true;
    },
  });
  expect(await answer({ output: [call] })).toMatchObject([{ acknowledged_safety_checks: checks }]);
  expect(seen).toEqual(checks);
  expect(await browser.evaluate("document.body.textContent")).toContain("Ordered");
});
