/**
 * Tools for OpenAI's models (package `openai`, Responses API).
 *
 * @packageDocumentation
 */
import type {
  ComputerTool,
  FunctionTool,
  ResponseComputerToolCall,
  ResponseFunctionToolCall,
  ResponseInputItem,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import { openaiActions } from "./openai-actions.ts";
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

type SafetyCheck = ResponseComputerToolCall.PendingSafetyCheck;

/** Options of tools for pages, for the computer, and for safety checks. */
export interface OpenAIOptions extends PageToolOptions, ComputerOptions {
  /**
   * Decides about an action with safety checks, such as a suspicious page: `true` acknowledges them. Ask a person.
   * Without it, these actions are not executed.
   */
  readonly acknowledge?: (checks: readonly SafetyCheck[], call: ResponseComputerToolCall) => boolean | Promise<boolean>;
}

/** The tools of a request, and their answers. */
export interface OpenAITools<Tool> {
  /** For `tools` of the request. */
  readonly tools: Tool[];
  /**
   * Runs the calls in the output of a response, in order, and returns the items to send next: none after the last
   * answer. Failures are items for the model.
   *
   * @throws {SafetyCheckError} if a safety check is not acknowledged; the reason of `signal` if it aborts.
   */
  readonly answer: (
    response: { readonly output: readonly ResponseOutputItem[] },
    options?: { readonly signal?: AbortSignal },
  ) => Promise<ResponseInputItem[]>;
}

/** The model's action has safety checks that are not acknowledged. */
export class SafetyCheckError extends Error {
  override readonly name = "SafetyCheckError";
  readonly checks: readonly SafetyCheck[];
  constructor(checks: readonly SafetyCheck[]) {
    super(
      `The action has safety checks that are not acknowledged: ${checks.map(({ code, message }) => message ?? code ?? "unnamed").join("; ")}. Ask a person, and return true from acknowledge.`,
    );
    this.checks = checks;
  }
}

/**
 * Tools that observe and operate the pages of a session: `snapshot`, `navigate`, `click`, `fill`, `read`, `screenshot`
 * and others.
 *
 * @example
 * const { answer, tools } = browserTools(browser);
 * let input: ResponseInputItem[] = [{ role: "user", content: "Order two tins of herring." }];
 * while (input.length > 0) {
 *   response = await openai.responses.create({ model, tools, input, previous_response_id: response?.id });
 *   input = await answer(response);
 * }
 */
export function browserTools(browser: PageBrowser, options: PageToolOptions = {}): OpenAITools<FunctionTool> {
  const tools = agentTools(browser, options);
  return {
    tools: tools.map(functionTool),
    answer: ({ output }, { signal } = {}) =>
      inOrder(output, async (item) =>
        item.type === "function_call" ? [await functionAnswer(tools, item, signal)] : [],
      ),
  };
}

/** OpenAI shrinks larger pictures, which would move the model's coordinates. */
const limits = { edge: 2048, pixels: 2048 * 2048 };

/**
 * The tool `computer`: mouse, keyboard and pictures of the screen, with the tools of {@link browserTools} in `include`,
 * by default none. It also answers calls of the older tool `computer_use_preview`. It reads the size of the screen once:
 * create it again after a change of the viewport.
 */
export async function computerTools(
  browser: PageBrowser & ComputerBrowser,
  options: OpenAIOptions = {},
): Promise<OpenAITools<ComputerTool | FunctionTool>> {
  const screen = await AgentScreen.of(browser, limits, options);
  const tools = agentTools(browser, { include: [], ...options });
  return {
    tools: [{ type: "computer" }, ...tools.map(functionTool)],
    answer: ({ output }, { signal } = {}) =>
      inOrder(output, async (item) => {
        if (item.type === "computer_call")
          return computerAnswer(screen, item, { acknowledge: options.acknowledge, signal });
        return item.type === "function_call" ? [await functionAnswer(tools, item, signal)] : [];
      }),
  };
}

async function inOrder(
  items: readonly ResponseOutputItem[],
  answer: (item: ResponseOutputItem) => Promise<ResponseInputItem[]>,
): Promise<ResponseInputItem[]> {
  const answers: ResponseInputItem[] = [];
  for (const item of items) answers.push(...(await answer(item)));
  return answers;
}

function functionTool({ description, json, name }: AgentTool): FunctionTool {
  // `strict` would make all fields required.
  return { type: "function", name, description, parameters: json, strict: false };
}

async function functionAnswer(
  tools: readonly AgentTool[],
  { arguments: given, call_id, name }: ResponseFunctionToolCall,
  signal: AbortSignal | undefined,
): Promise<ResponseInputItem> {
  const result = { type: "function_call_output", call_id } as const;
  try {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined)
      throw new ToolCallError(`Unknown tool ${name}. The tools are ${tools.map((each) => each.name).join(", ")}.`);
    const answer = await tool.run(argumentsOf(given), signal);
    return {
      ...result,
      output:
        "text" in answer ? answer.text : [{ type: "input_image", image_url: urlOf(answer.picture), detail: "auto" }],
    };
  } catch (error) {
    if (!(error instanceof ToolCallError)) throw error;
    return { ...result, output: `The tool failed. ${error.message}` };
  }
}

function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch {
    throw new ToolCallError("The arguments are invalid JSON.");
  }
}

async function computerAnswer(
  screen: AgentScreen,
  item: ResponseComputerToolCall,
  {
    acknowledge,
    signal,
  }: { readonly acknowledge: OpenAIOptions["acknowledge"] | undefined; readonly signal: AbortSignal | undefined },
): Promise<ResponseInputItem[]> {
  const checks = item.pending_safety_checks;
  if (checks.length > 0 && (await acknowledge?.(checks, item)) !== true) throw new SafetyCheckError(checks);
  const call = signal === undefined ? {} : { signal };
  const failure = await asToolError(signal, async () => {
    const actions = openaiActions(item.actions ?? (item.action === undefined ? [] : [item.action]), screen);
    if (actions.length > 0) await screen.act(actions, call);
  }).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ToolCallError) return error;
      throw error;
    },
  );
  return [
    {
      type: "computer_call_output",
      call_id: item.call_id,
      output: { type: "computer_screenshot", image_url: urlOf(await screen.picture(call)) },
      ...(checks.length > 0 && { acknowledged_safety_checks: checks }),
    },
    // The output of the call is a picture only.
    ...(failure === undefined ? [] : [{ role: "user" as const, content: `The action failed. ${failure.message}` }]),
  ];
}

function urlOf({ data, mediaType }: Picture): string {
  return `data:${mediaType};base64,${data}`;
}
