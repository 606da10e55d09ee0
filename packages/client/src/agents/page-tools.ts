import {
  actText,
  type Failure,
  failureOfAnswer,
  failureText,
  fittingWidth,
  inputSchema,
  jpegSize,
  type JsonSchema,
  markdownText,
  observationText,
  type PageTool,
  pageTools,
  toolsOfPages,
} from "@shoal/contract/agent";
import type { ActOnPage } from "@shoal/schemas";
import { ApiError, isShoalError } from "@shoal/transport";
import type { AttachedSession } from "../browsers/session/browser-session.ts";
import { base64Of } from "../browsers/base64.ts";
import { fromPage } from "./from-page.ts";

/** The methods of a session that tools for pages call. */
export type PageBrowser = Pick<AttachedSession, "observe" | "act" | "read" | "screenshot">;

/** Which tools a model gets, and how much their answers contain. */
export interface PageToolOptions {
  /** Names of the tools that the model gets, such as `snapshot` and `click`. Default all. */
  readonly include?: readonly string[];
  /** Tokens of the changes that an action returns; 0 returns none. Default 2000. */
  readonly outlineTokens?: number;
}

/** A picture in base64. */
export interface Picture {
  readonly data: string;
  readonly mediaType: "image/jpeg" | "image/png";
}

/** An answer for a model. Text of pages is between marks, because it is not trustworthy. */
export type ToolAnswer = { readonly text: string } | { readonly picture: Picture };

/** A failed call of a tool. The message is for the model. */
export class ToolCallError extends Error {
  override readonly name = "ToolCallError";
}

/** A tool for any SDK. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly schema: ReturnType<typeof inputSchema>;
  readonly json: JsonSchema;
  /** @throws {ToolCallError} if the input is invalid or the call fails; the reason of `signal` if it aborts. */
  readonly run: (input: unknown, signal?: AbortSignal) => Promise<ToolAnswer>;
}

/** Pictures that a model reads without loss of detail. */
const pictureWidth = 1280;
const maxPictureBytes = 8 * 2 ** 20;

/** @throws {RangeError} for a name in `include` that is not a tool. */
export function agentTools(browser: PageBrowser, options: PageToolOptions = {}): readonly AgentTool[] {
  const { include = pageTools.map(({ name }) => name), outlineTokens = 2000 } = options;
  const unknown = include.find((name) => !pageTools.some((tool) => tool.name === name));
  if (unknown !== undefined)
    throw new RangeError(
      `include: ${unknown} is not a tool. The tools are ${pageTools.map(({ name }) => name).join(", ")}.`,
    );
  return pageTools.filter(({ name }) => include.includes(name)).map((tool) => agentTool(tool, browser, outlineTokens));
}

function agentTool(tool: PageTool, browser: PageBrowser, outlineTokens: number): AgentTool {
  const { description, fields, name } = tool;
  const schema = inputSchema(fields);
  return {
    name,
    description,
    schema,
    json: schema["~standard"].jsonSchema.input(),
    run: (given, signal) =>
      asToolError(signal, async () => {
        const checked = schema["~standard"].validate(given);
        if ("issues" in checked)
          throw new ToolCallError(
            checked.issues.map(({ message, path }) => [path.join("."), message].filter(Boolean).join(" ")).join("; "),
          );
        return call(tool, checked.value, { browser, outlineTokens, signal });
      }),
  };
}

interface PageCall {
  readonly browser: PageBrowser;
  readonly outlineTokens: number;
  readonly signal: AbortSignal | undefined;
}

async function call(
  { action, group, name }: PageTool,
  input: object,
  { browser, outlineTokens, signal }: PageCall,
): Promise<ToolAnswer> {
  const options = signal === undefined ? {} : { signal };
  switch (group) {
    case "observe":
      return { text: fromPage(observationText(await browser.observe(input, options))) };
    case "read":
      return { text: fromPage(markdownText(await browser.read(input, options))) };
    case "act": {
      const observe = outlineTokens > 0 && { observe: { diff: true, max_tokens: outlineTokens } };
      const act: ActOnPage = { ...input, type: action ?? (name as ActOnPage["type"]), ...observe };
      return { text: fromPage(actText(await browser.act(act, options))) };
    }
    case "screenshot": {
      const isWidthChosen = "max_width" in input && input.max_width !== undefined;
      const first = await browser.screenshot({ format: "jpeg", max_width: pictureWidth, ...input }, options);
      const size = jpegSize(first);
      const width = size && fittingWidth(size, isWidthChosen);
      const bytes =
        width === undefined ? first : await browser.screenshot({ format: "jpeg", ...input, max_width: width }, options);
      if (bytes.byteLength > maxPictureBytes)
        throw new ToolCallError(
          `The picture is larger than ${String(maxPictureBytes)} bytes. Pass ref or a smaller max_width.`,
        );
      return { picture: { data: base64Of(bytes), mediaType: "image/jpeg" } };
    }
  }
}

/** Turns failures of calls into text for the model. An abort stays the caller's own reason. */
export async function asToolError<Answer>(
  signal: AbortSignal | undefined,
  run: () => Promise<Answer>,
): Promise<Answer> {
  signal?.throwIfAborted();
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ToolCallError) throw error;
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    // Messages of the service quote the page.
    throw new ToolCallError(fromPage(failureText(failure, toolsOfPages)), { cause: error });
  }
}

function failureOf(error: unknown): Failure | undefined {
  if (ApiError.isInstance(error)) return failureOfAnswer(error);
  return isShoalError(error) ? { code: error.code, message: error.message } : undefined;
}
