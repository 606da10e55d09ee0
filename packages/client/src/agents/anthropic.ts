/**
 * Tools for Anthropic's models (package `@anthropic-ai/sdk`).
 *
 * @packageDocumentation
 */
import type {
  BetaTool,
  BetaToolComputerUse20251124,
  BetaToolResultBlockParam,
  BetaToolResultContentBlockParam,
} from "@anthropic-ai/sdk/resources/beta";
import { actionsOf, type ComputerInput, computerInput, needed } from "./computer-input.ts";
import {
  type AgentTool,
  agentTools,
  asToolError,
  type PageBrowser,
  type PageToolOptions,
  type Picture,
  ToolCallError,
} from "./page-tools.ts";
import { AgentScreen, type ComputerBrowser, type ComputerOptions } from "./screen.ts";

export type { PageBrowser, PageToolOptions } from "./page-tools.ts";
export type { ComputerBrowser, ComputerOptions } from "./screen.ts";

type Content = BetaToolResultContentBlockParam[];

/** The SDK sends it with the request, and runs it in `toolRunner`. */
export type RunnableTool<Definition> = Definition & {
  /** Returns its argument: `run` checks it, so that the model sees the invalid fields. */
  readonly parse: (input: unknown) => unknown;
  /** @throws an error for the model; the reason of `signal` if it aborts. */
  readonly run: (input: unknown, context?: { readonly signal?: AbortSignal | null | undefined }) => Promise<Content>;
};

/**
 * Tools that observe and operate the pages of a session: `snapshot`, `navigate`, `click`, `fill`, `read`, `screenshot`
 * and others, for `client.beta.messages.toolRunner` or for {@link toolResult}.
 *
 * @example
 * const answer = await anthropic.beta.messages.toolRunner({
 *   model, max_tokens: 4096, tools: browserTools(browser), messages: [{ role: "user", content: "Order two tins." }],
 * });
 */
export function browserTools(browser: PageBrowser, options: PageToolOptions = {}): RunnableTool<BetaTool>[] {
  return agentTools(browser, options).map(pageTool);
}

function pageTool({ description, json, name, run }: AgentTool): RunnableTool<BetaTool> {
  return {
    type: "custom",
    name,
    description,
    input_schema: json as BetaTool["input_schema"],
    parse: (input) => input,
    async run(input, context) {
      const answer = await run(input, context?.signal ?? undefined);
      return "text" in answer ? [{ type: "text", text: answer.text }] : [imageOf(answer.picture)];
    },
  };
}

/** Anthropic shrinks larger pictures, which would move the model's coordinates. */
const limits = { edge: 1568, pixels: 1_150_000 };

/**
 * The tool `computer_20251124`: mouse, keyboard and pictures of the screen. Each action returns a new picture. Pass the
 * beta flag `computer-use-2025-11-24` with the request. It reads the size of the screen once: create it again after a
 * change of the viewport.
 *
 * @throws {RangeError} if the screen of a browser with a window is larger than 1568 pixels an edge or 1.15 megapixels.
 */
export async function computerTool(
  browser: ComputerBrowser,
  options: ComputerOptions = {},
): Promise<RunnableTool<BetaToolComputerUse20251124>> {
  const screen = await AgentScreen.of(browser, limits, options);
  return {
    type: "computer_20251124",
    name: "computer",
    display_width_px: screen.shown.width,
    display_height_px: screen.shown.height,
    enable_zoom: true,
    parse: (input) => input,
    run(input, context) {
      const signal = context?.signal ?? undefined;
      return asToolError(signal, () => runComputer(screen, computerInput(input), signal));
    },
  };
}

async function runComputer(
  screen: AgentScreen,
  input: ComputerInput,
  signal: AbortSignal | undefined,
): Promise<Content> {
  const call = signal === undefined ? {} : { signal };
  if (input.action === "cursor_position") {
    const { x, y } = await screen.pointer(call);
    return [{ type: "text", text: `X=${String(x)},Y=${String(y)}` }];
  }
  if (input.action === "zoom") {
    const [x0, y0, x1, y1] = needed(input.region, "region");
    return [imageOf(await screen.part({ x: x0, y: y0 }, { x: x1, y: y1 }, call))];
  }
  if (input.action !== "screenshot") await screen.act(actionsOf(input, screen, await screen.pointer(call)), call);
  return [imageOf(await screen.picture(call))];
}

function imageOf({ data, mediaType }: Picture): Content[number] {
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

/**
 * Runs the tool of a `tool_use` block, for an own loop over messages. Failures are results with `is_error`.
 *
 * @throws the reason of `signal` if it aborts.
 */
export async function toolResult(
  tools: readonly RunnableTool<{ readonly name: string }>[],
  { id, input, name }: { readonly id: string; readonly name: string; readonly input: unknown },
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<BetaToolResultBlockParam> {
  const result = { type: "tool_result", tool_use_id: id } as const;
  try {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined)
      throw new ToolCallError(`Unknown tool ${name}. The tools are ${tools.map((each) => each.name).join(", ")}.`);
    return { ...result, content: await tool.run(input, { signal }) };
  } catch (error) {
    if (!(error instanceof ToolCallError)) throw error;
    return { ...result, is_error: true, content: error.message };
  }
}
