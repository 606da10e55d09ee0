import { browserTools } from "@shoal/client/ai-sdk";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import type { Site } from "../testing/site.ts";
import { injection, serveShop } from "./shop.ts";

let site: Site;
beforeAll(async () => {
  site = await serveShop();
});
afterAll(() => site.close());
const test = useService(() => ["--allow-private-hosts", site.host]);

type Generate = Extract<MockLanguageModelV4["doGenerate"], (...given: never[]) => unknown>;
type Prompt = Parameters<Generate>[0]["prompt"];
type Step = readonly [tool: string, input: object] | string;

/** A model that answers with the steps of a script. @param script - sees the prompt with the results of its tools. */
function scripted(script: readonly ((prompt: Prompt) => Step)[]) {
  let at = 0;
  return new MockLanguageModelV4({
    doGenerate: ({ prompt }) => {
      const step = script[at++]?.(prompt) ?? "";
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      };
      return Promise.resolve(
        typeof step === "string"
          ? {
              content: [{ type: "text", text: step }],
              finishReason: { unified: "stop", raw: undefined },
              usage,
              warnings: [],
            }
          : {
              content: [
                {
                  type: "tool-call",
                  toolCallId: `call-${String(at)}`,
                  toolName: step[0],
                  input: JSON.stringify(step[1]),
                },
              ],
              finishReason: { unified: "tool-calls", raw: undefined },
              usage,
              warnings: [],
            },
      );
    },
  });
}

/** The result of the last tool, as the model gets it. */
function lastOf(prompt: Prompt) {
  const parts = prompt.at(-1)?.content;
  const part = Array.isArray(parts) ? parts[0] : undefined;
  return part?.type === "tool-result" ? part.output : expect.fail(JSON.stringify(prompt.at(-1)));
}
const textOf = (prompt: Prompt) => {
  const output = lastOf(prompt);
  return output.type === "text" || output.type === "error-text" ? output.value : expect.fail(output.type);
};
const refOf = (prompt: Prompt, element: RegExp) =>
  /\[(e\d+)\]/.exec(element.exec(textOf(prompt))?.[0] ?? "")?.[1] ?? expect.fail(textOf(prompt));

it("orders in a shop with tools that return outlines, pictures and errors", async () => {
  await using browser = await test.shoal.browsers.create();
  let picture: unknown;
  const model = scripted([
    () => ["navigate", { url: site.url }],
    () => ["snapshot", {}],
    (prompt) => ["fill", { ref: refOf(prompt, /textbox "Tins".*/), text: "two tins" }],
    () => ["click", { ref: "e99999" }],
    (prompt) => {
      expect(lastOf(prompt).type).toBe("error-text");
      expect(textOf(prompt)).toContain("e99999");
      return ["click", { rolle: "button" }];
    },
    (prompt) => {
      expect(lastOf(prompt).type).toMatch(/^error/);
      expect(JSON.stringify(lastOf(prompt))).toContain("unknown field rolle");
      return ["click", { role: "button", name: "Order" }];
    },
    () => ["screenshot", {}],
    (prompt) => {
      picture = lastOf(prompt);
      return ["read", { content: "all" }];
    },
    (prompt) => `Done: ${textOf(prompt)}`,
  ]);
  const { text } = await generateText({
    model,
    tools: browserTools(browser),
    stopWhen: isStepCount(20),
    prompt: "Order.",
  });
  expect(text).toContain("Ordered two tins");
  expect(picture).toMatchObject({ type: "content", value: [{ type: "file", mediaType: "image/jpeg" }] });
  const click = model.doGenerateCalls[0]?.tools?.find(({ name }) => name === "click");
  expect(click).toMatchObject({
    inputSchema: { properties: { ref: { type: "string" } }, additionalProperties: false },
  });
});

it("marks text of pages, with a mark that the page cannot know", async () => {
  await using browser = await test.shoal.browsers.create();
  const { execute } = browserTools(browser).read ?? {};
  await browser.goto(site.url);
  const options = { toolCallId: "1", messages: [], context: {} };
  const texts = [await execute?.({ content: "all" }, options), await execute?.({ content: "all" }, options)].map(
    (answer) => (answer as { text: string }).text,
  );
  const marks = texts.map((text) => /^<(\w{8})>\n[\s\S]+\n<\/\1>$/m.exec(text)?.[1] ?? expect.fail(text));
  expect(texts[0]?.indexOf(injection)).toBeGreaterThan(texts[0]?.indexOf(`<${String(marks[0])}>`) ?? 0);
  expect(marks[0]).not.toBe(marks[1]);
});

it("ends a tool when its call is aborted", async () => {
  await using browser = await test.shoal.browsers.create();
  const stop = new AbortController();
  const model = scripted([
    () => {
      setImmediate(() => {
        stop.abort(new Error("stopped"));
      });
      return ["wait_for", { text: "never", timeout_ms: 60_000 }];
    },
    () => "not reached",
  ]);
  await expect(
    generateText({
      model,
      tools: browserTools(browser),
      stopWhen: isStepCount(5),
      prompt: "x",
      abortSignal: stop.signal,
    }),
  ).rejects.toThrow();
  // The session is free for the next call.
  expect((await browser.goto("about:blank")).url).toBe("about:blank");
});

it("contains only the tools of include, and refuses unknown names", async () => {
  await using browser = await test.shoal.browsers.create();
  expect(Object.keys(browserTools(browser, { include: ["read", "snapshot"] }))).toEqual(["snapshot", "read"]);
  expect(() => browserTools(browser, { include: ["clik"] })).toThrow("include: clik is not a tool");
});
