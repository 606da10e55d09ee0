/**
 * Tools for the AI SDK (package `ai`).
 *
 * @packageDocumentation
 */
import type { ToolSet } from "ai";
import { type AgentTool, agentTools, type PageBrowser, type PageToolOptions, type ToolAnswer } from "./page-tools.ts";

export type { PageBrowser, PageToolOptions } from "./page-tools.ts";

/**
 * Tools that observe and operate the pages of a session: `snapshot`, `navigate`, `click`, `fill`, `read`, `screenshot`
 * and others. A failed call is an error of its tool, which the model sees. Aborting the call of the SDK aborts the tool.
 *
 * @example
 * const { text } = await generateText({
 *   model, tools: browserTools(browser), stopWhen: isStepCount(20), prompt: "Order two tins of herring.",
 * });
 */
export function browserTools(browser: PageBrowser, options: PageToolOptions = {}): ToolSet {
  return Object.fromEntries(agentTools(browser, options).map((tool) => [tool.name, sdkTool(tool)]));
}

function sdkTool({ description, run, schema }: AgentTool): ToolSet[string] {
  return {
    description,
    inputSchema: schema,
    execute: (input: object, { abortSignal }: { readonly abortSignal?: AbortSignal }) => run(input, abortSignal),
    toModelOutput: ({ output }: { readonly output: ToolAnswer }) => modelOutput(output),
  };
}

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]["toModelOutput"]>>>;

function modelOutput(answer: ToolAnswer): ModelOutput {
  if ("text" in answer) return { type: "text", value: answer.text };
  const { data, mediaType } = answer.picture;
  return { type: "content", value: [{ type: "file", mediaType, data: { type: "data", data } }] };
}
