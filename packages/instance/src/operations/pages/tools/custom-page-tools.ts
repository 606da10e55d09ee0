import { createId } from "@shoal/primitives";
import type { CustomWebMcpTool, WebMcpInvocation, WebMcpTool } from "@shoal/schemas";
import { shownAddress } from "../tabs/shown-address.ts";
import { maxResultCharacters } from "./bounded-json.ts";
import { framesOf, type ShownFrame } from "./tool-list.ts";
import type { ToolWatch } from "./tool-watch.ts";
import { matchesUrl } from "./url-pattern.ts";

/** A tool that a client added; `execute` is the text of a function, for `page` only. */
export interface CustomPageTool extends CustomWebMcpTool {
  readonly execute?: string;
}

/** A document of a tab that a tool is for. */
export interface ToolMatch {
  readonly url: string;
  readonly top_target_id: string;
  /** Of a frame in another process than its page; `null` for other frames and for the page. */
  readonly target_id: string | null;
  readonly frame_id: string;
}

export interface CustomToolSource {
  list(): readonly CustomPageTool[];
  /** Runs a tool of kind `cdp`. Never rejects before `signal` is aborted, unless its process ends. */
  invoke(
    id: string,
    call: { readonly input: object; readonly matches: readonly ToolMatch[] },
    signal: AbortSignal,
  ): Promise<Pick<WebMcpInvocation, "error_text" | "output" | "status">>;
}

/** A custom tool and its matching documents in one tab, the page itself first. */
export interface MatchingTool {
  readonly tool: CustomPageTool;
  readonly frames: readonly ShownFrame[];
  readonly ref: string;
}

/** Each tool is shown once for a tab, however many of its documents match. */
export async function matchingTools(watch: ToolWatch, tools: readonly CustomPageTool[]): Promise<MatchingTool[]> {
  if (tools.length === 0) return [];
  const frames = await framesOf(watch);
  const top = frames.find(({ frame, target }) => watch.isMainFrame(target, frame.id)) ?? frames[0];
  const found = tools.map(async (tool) => {
    const matching = frames.filter(({ frame }) => tool.match.url_patterns.some((one) => matchesUrl(one, frame.url)));
    // The document counts too: a reference ends with it.
    const text = JSON.stringify([watch.session.targetId, top?.frame.loaderId, tool.id]);
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return { tool, frames: matching, ref: `wmcp_${Buffer.from(hash).toString("base64url")}` };
  });
  return (await Promise.all(found)).filter((each) => each.frames.length > 0);
}

export function shownCustom(
  { ref, tool: { id, namespace, tool } }: MatchingTool,
  targetId: string,
  place: Pick<WebMcpTool["source"], "page_title" | "page_url" | "tab_id" | "window_id">,
): WebMcpTool {
  return { tool_ref: ref, tool, source: { ...place, frame: null, custom: { id, namespace }, target_id: targetId } };
}

export function matchesOf(watch: ToolWatch, frames: readonly ShownFrame[]): ToolMatch[] {
  return frames.map(({ frame, target }) => ({
    url: shownAddress(frame.url),
    top_target_id: watch.session.targetId,
    target_id: target.parent !== undefined && target.targetId === frame.id ? frame.id : null,
    frame_id: frame.id,
  }));
}

const maxErrorCharacters = 4_000;

/** Rejects if the document goes. */
export async function runInPage(
  watch: ToolWatch,
  { frames: [place], tool }: MatchingTool,
  input: object,
): Promise<WebMcpInvocation> {
  if (place === undefined) throw new Error("No document matches the tool.");
  const { frame, target } = place;
  const isTopmost = target.targetId === frame.id || watch.isMainFrame(target, frame.id);
  // Without an event about it, the world of the page's scripts has no id in a frame of the same process.
  const contextId = isTopmost ? undefined : await watch.worldOf(frame.id, target);
  // The page may have replaced `JSON`, but neither the type nor the length of a string.
  const expression = `(async () => {
    const text = JSON.stringify(await (${tool.execute ?? ""})(JSON.parse(${JSON.stringify(JSON.stringify(input))})));
    return typeof text !== "string" ? "" : text.length > ${String(maxResultCharacters)} ? undefined : text;
  })()`;
  const { exceptionDetails, result } = await watch.cdp.send(
    "Runtime.evaluate",
    { expression, awaitPromise: true, returnByValue: true, ...(contextId !== undefined && { contextId }) },
    target.sessionId,
  );
  const invocation = { invocation_id: createId() };
  if (exceptionDetails !== undefined) {
    const { exception, text } = exceptionDetails;
    const reason = exception?.description ?? (typeof exception?.value === "string" ? exception.value : text);
    return { ...invocation, status: "error", error_text: reason.slice(0, maxErrorCharacters) };
  }
  const text: unknown = result.value;
  if (text === "") return { ...invocation, status: "completed" };
  const output = typeof text === "string" ? parsed(text) : undefined;
  if (output === undefined)
    return {
      ...invocation,
      status: "error",
      error_text: `The result is not JSON of at most ${String(maxResultCharacters)} characters.`,
    };
  return { ...invocation, status: "completed", output: output.value };
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
