import { setImmediate } from "node:timers/promises";
import { createId } from "@shoal/primitives";
import type { CustomWebMcpTool, WebMcpInvocation, WebMcpTool } from "@shoal/schemas";
import { shownAddress, withoutCredentials } from "../tabs/shown-address.ts";
import { maxResultCharacters } from "./bounded-json.ts";
import { framesOf, type ShownFrame } from "./tool-list.ts";
import { frameNotResponding, unknownRef } from "./tool-errors.ts";
import type { ToolWatch } from "./tool-watch.ts";
import { matchesUrl, type PageAddress, readAddress, readPattern, type UrlPattern } from "./url-pattern.ts";

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
  const places = frames.map((shown) => ({ shown, address: readAddress(shown.frame.url) }));
  const found: MatchingTool[] = [];
  for (const tool of tools) {
    // Patterns may be many and long: other sessions and calls go on between them.
    await setImmediate();
    const patterns = patternsOf(tool);
    const matching = places.filter(({ address }) => matchesAny(patterns, address)).map(({ shown }) => shown);
    if (matching.length === 0) continue;
    // The document counts too: a reference ends with it.
    const ref = await watch.refOf([top?.frame.loaderId, tool.id]);
    found.push({ tool, frames: matching, ref });
  }
  return found;
}

/** Of the present tools, which were checked when they were added. */
const readPatterns = new WeakMap<CustomPageTool, readonly UrlPattern[]>();

function patternsOf(tool: CustomPageTool): readonly UrlPattern[] {
  const known = readPatterns.get(tool);
  if (known !== undefined) return known;
  const patterns = tool.match.url_patterns.flatMap((text) => readPattern(text) ?? []);
  readPatterns.set(tool, patterns);
  return patterns;
}

function matchesAny(patterns: readonly UrlPattern[], address: PageAddress | undefined): boolean {
  return address !== undefined && patterns.some((pattern) => matchesUrl(pattern, address));
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

/** The address of a document without what `location` leaves out, and without its fragment. */
function placeOf(url: string): string {
  return withoutCredentials(url.split("#", 1)[0] ?? "").replace(/^([^?]*)\?$/, "$1");
}

/**
 * The document may have changed since its address matched. A page can replace almost everything, but neither its
 * `location` nor the type, the length and the characters of a string: only they are relied on.
 */
function expressionOf({ execute = "" }: CustomPageTool, url: string, input: object): string {
  return `location.origin + location.pathname + location.search !== ${JSON.stringify(placeOf(url))} ? "moved" : (async () => {
    try {
      const text = JSON.stringify(await (${execute}
)(JSON.parse(${JSON.stringify(JSON.stringify(input))})));
      if (typeof text !== "string") return "";
      return text.length > ${String(maxResultCharacters)} ? "long" : "=" + text;
    } catch (error) {
      let reason = "The tool failed.";
      try { reason = \`\${error}\`; } catch {}
      let text = "!";
      for (let at = 0; at < reason.length && at < ${String(maxErrorCharacters)}; at++) text += reason[at];
      return text;
    }
  })()`;
}

/**
 * Rejects if the document goes.
 * @throws {ServiceError} 409 if the document does not answer, 404 if it has another address now: the tool did not run.
 */
export async function runInPage(
  watch: ToolWatch,
  { frames: [place], tool }: MatchingTool,
  { input, signal }: { readonly input: object; readonly signal: AbortSignal },
): Promise<WebMcpInvocation> {
  if (place === undefined) throw new Error("No document matches the tool.");
  const { frame, target } = place;
  const isTopmost = target.targetId === frame.id || watch.isMainFrame(target, frame.id);
  // Without an event about it, the world of the page's scripts has no id in a frame of the same process.
  const contextId = isTopmost ? undefined : await watch.worldOf(frame.id, target);
  // Without an id, the code would run in the topmost document, for which the tool may not be.
  if (!isTopmost && contextId === undefined) throw frameNotResponding();
  signal.throwIfAborted();
  const expression = expressionOf(tool, frame.url, input);
  const { exceptionDetails, result } = await watch.cdp.send(
    "Runtime.evaluate",
    { expression, awaitPromise: true, returnByValue: true, ...(contextId !== undefined && { contextId }) },
    target.sessionId,
  );
  const value: unknown = exceptionDetails === undefined ? result.value : `!${exceptionDetails.text}`;
  if (value === "moved") throw unknownRef();
  return { invocation_id: createId(), ...endOf(value) };
}

/** @param value - of the expression; the page may have made it. */
function endOf(value: unknown): Omit<WebMcpInvocation, "invocation_id"> {
  if (value === "") return { status: "completed" };
  if (typeof value === "string" && value.startsWith("!"))
    return { status: "error", error_text: value.slice(1, maxErrorCharacters + 1) };
  const output = typeof value === "string" && value.startsWith("=") ? parsed(value.slice(1)) : undefined;
  if (output !== undefined) return { status: "completed", output: output.value };
  const limit = String(maxResultCharacters);
  return { status: "error", error_text: `The result is not JSON of at most ${limit} characters.` };
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
