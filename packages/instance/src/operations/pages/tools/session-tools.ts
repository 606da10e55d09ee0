import { anySignal, createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import type { BrowserTab, WebMcpInvocation, WebMcpTool, WebMcpTools } from "@shoal/schemas";
import { CdpError } from "../../../browser/cdp/cdp-connection.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { shownAddress } from "../tabs/shown-address.ts";
import { fitsAsJson, isShallow, maxResultCharacters } from "./bounded-json.ts";
import {
  type CustomToolSource,
  type MatchingTool,
  matchesOf,
  matchingTools,
  runInPage,
  shownCustom,
} from "./custom-page-tools.ts";
import type { RunningTools } from "./running-tools.ts";
import { startTool } from "./start-tool.ts";
import { noWebMcp, unknownRef } from "./tool-errors.ts";
import { type ListedTool, listTools } from "./tool-list.ts";
import { type ToolResponse, ToolWatch } from "./tool-watch.ts";

interface Invoke {
  readonly tool_ref: string;
  readonly input: Record<string, unknown>;
  readonly timeout_sec: number;
}

/** Tabs that are read at once. */
const maxReading = 10;
/** A tab that takes longer is busy, or has crashed. */
const readMs = 10_000;
/** Until a tab whose reading goes on is read again: a browser under load may lose an answer. */
const lateMs = 30_000;
const maxErrorCharacters = 4_000;
/** Of the tools of all tabs, as JSON. */
const maxListCharacters = 2_000_000;
/** For the browser to name a call that has begun. */
const idMs = 500;

/** Lists the tools of all tabs, and calls them by references. */
export class SessionToolCaller {
  readonly #pages: SessionPages;
  readonly #running: RunningTools;
  readonly #custom: CustomToolSource;
  readonly #closing = new AbortController();
  /** Numbers of frames. */
  readonly #frames = new Map<string, number>();
  /** Tabs whose reading goes on after its time limit: no list reads them again for a while. */
  readonly #late = new Set<string>();
  /** Tabs of the references of the latest list. */
  #tabs: ReadonlyMap<string, string> = new Map();

  constructor(pages: SessionPages, running: RunningTools, custom: CustomToolSource) {
    this.#pages = pages;
    this.#running = running;
    this.#custom = custom;
  }

  /** @throws {ServiceError} 409 without WebMCP and custom tools. Throws the reason of the caller's signal. */
  list(caller: AbortSignal, { excludesCustom = false } = {}): Promise<WebMcpTools> {
    const custom = excludesCustom ? [] : this.#custom.list();
    return this.#stoppable(caller, async (signal) => {
      const read = await pLimit(maxReading).map(await this.#pages.tabs(), (shown) => {
        signal.throwIfAborted();
        if (this.#late.has(shown.id)) return undefined;
        const reading = this.#watching(shown.id, (watch, tab) => {
          if (custom.length === 0) requireWebMcp(watch);
          return ifThere(this.#toolsOf(watch, { tab, shown, custom }));
        });
        return pTimeout(reading, {
          milliseconds: readMs,
          fallback: () => {
            this.#leave(shown.id, reading);
            return undefined;
          },
        });
      });
      const all = read.flatMap((tools) => tools ?? []);
      let characters = 0;
      const tools = all.filter((tool) => (characters += JSON.stringify(tool).length) <= maxListCharacters);
      this.#tabs = new Map(tools.map(({ source, tool_ref }) => [tool_ref, `t${String(source.tab_id)}`]));
      return { tools };
    });
  }

  /** @throws {ServiceError} 404 for an unknown reference, 504 if the tool may have had effects. */
  async invoke(call: Invoke, caller: AbortSignal): Promise<WebMcpInvocation> {
    const late = new AbortController();
    const endsAt = performance.now() + call.timeout_sec * 1000;
    const timer = setTimeout(() => {
      late.abort(notFoundInTime(call.timeout_sec));
    }, call.timeout_sec * 1000);
    try {
      return await this.#stoppable(anySignal([caller, late.signal]), async (signal) => {
        const known = this.#tabs.get(call.tool_ref);
        const others = (await this.#pages.tabs()).map(({ id }) => id).filter((id) => id !== known);
        for (const id of known === undefined ? others : [known, ...others]) {
          signal.throwIfAborted();
          const result = await this.#watching(id, async (watch) => {
            const [custom, tool] = await this.#find(watch, call.tool_ref);
            if (custom === undefined) requireWebMcp(watch);
            if (custom === undefined && tool === undefined) return undefined;
            // The call of the tool has its own limit.
            clearTimeout(timer);
            const limits = { call, signal, milliseconds: Math.max(0, endsAt - performance.now()) };
            if (custom !== undefined) return this.#invokeCustom(watch, custom, limits);
            return tool && invoke(watch, tool, limits);
          });
          if (result !== undefined) return result;
        }
        throw unknownRef();
      });
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#closing.abort(new ServiceError(503, "shutting_down", "The session ended during the call."));
  }

  /** Ends at once when the caller or the session does, although a page may not answer. */
  #stoppable<T>(caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = anySignal([caller, this.#closing.signal]);
    return pTimeout(
      this.#running.count(() => work(signal)),
      { milliseconds: Infinity, signal },
    );
  }

  /** Returns `undefined` for a tab that has gone or has an open dialog. */
  async #watching<T>(id: string, use: (watch: ToolWatch, tab: OpenTab) => Promise<T>): Promise<T | undefined> {
    const tab = await this.#pages.tab(id).catch(() => undefined);
    if (tab === undefined || tab.page.session.dialog !== undefined) return undefined;
    const watch = await ToolWatch.open(tab.page.cdp, tab.targetId).catch(() => undefined);
    if (watch === undefined) return undefined;
    try {
      return await use(watch, tab);
    } finally {
      await watch.closeAfterDialog();
    }
  }

  #leave(id: string, reading: Promise<unknown>): void {
    this.#late.add(id);
    const timer = setTimeout(() => this.#late.delete(id), lateMs).unref();
    void Promise.allSettled([reading]).then(() => {
      clearTimeout(timer);
      this.#late.delete(id);
    });
  }

  async #find(watch: ToolWatch, ref: string): Promise<readonly [MatchingTool | undefined, ListedTool | undefined]> {
    const matching = await ifThere(matchingTools(watch, this.#custom.list()));
    const custom = matching?.find((tool) => tool.ref === ref);
    return custom === undefined ? [undefined, await ifThere(findTool(watch, ref))] : [custom, undefined];
  }

  async #invokeCustom(
    watch: ToolWatch,
    matching: MatchingTool,
    { call, milliseconds, signal }: Limits,
  ): Promise<WebMcpInvocation> {
    const { frames, tool } = matching;
    const ending = new AbortController();
    const ended =
      tool.kind === "page"
        ? runInPage(watch, matching, { input: call.input, signal: ending.signal })
        : this.#custom
            .invoke(tool.id, { input: call.input, matches: matchesOf(watch, frames) }, ending.signal)
            .then((end) => ({ invocation_id: createId(), ...end }));
    const waiting = pTimeout(watch.session.outcome(ended, milliseconds), { milliseconds: Infinity, signal });
    const name = JSON.stringify(tool.tool.name);
    try {
      const outcome = await waiting.catch((error: unknown) => {
        if (signal.aborted || wasNotCalled(error)) throw error;
        throw unknownOutcome(`The document or the process of the tool ${name} went during the call.`, undefined);
      });
      if (outcome.kind === "done") return shallow(outcome.result);
      if (outcome.kind === "silent") throw unknownOutcome(silence(name, call.timeout_sec), undefined);
      const problem = outcome.kind === "dialog" ? "opened a dialog, and its result is lost" : "lost its tab";
      throw unknownOutcome(`The tool ${name} ${problem}.`, undefined);
    } finally {
      ending.abort(new Error("The call of the tool has ended."));
    }
  }

  async #toolsOf(
    watch: ToolWatch,
    {
      custom,
      shown,
      tab: { id, page, targetId },
    }: { readonly tab: OpenTab; readonly shown: BrowserTab; readonly custom: ReturnType<CustomToolSource["list"]> },
  ): Promise<WebMcpTool[]> {
    const [{ tools }, matching] = await Promise.all([listTools(watch), matchingTools(watch, custom)]);
    if (tools.length === 0 && matching.length === 0) return [];
    const { windowId } = await page.cdp.send("Browser.getWindowForTarget", { targetId });
    const place = {
      window_id: windowId,
      tab_id: Number(id.slice(1)),
      page_title: shown.title,
      page_url: withoutFragment(shown.url),
    };
    const ofPage = await Promise.all(
      tools.map(async (tool) => ({
        tool_ref: await refOf(watch, tool),
        tool: metadataOf(tool),
        source: {
          ...place,
          frame: tool.shown.main_frame
            ? null
            : { frame_id: this.#numberOf(tool.frame.id), url: shownAddress(tool.frame.url) },
        },
      })),
    );
    return [...ofPage, ...matching.map((tool) => shownCustom(tool, targetId, place))];
  }

  #numberOf(frameId: string): number {
    const number = this.#frames.get(frameId) ?? this.#frames.size + 1;
    this.#frames.set(frameId, number);
    return number;
  }
}

function wasNotCalled(error: unknown): boolean {
  return ServiceError.isInstance(error) && ["page_not_responding", "tool_not_found"].includes(error.code);
}

/** Custom tools work without it. @throws {ServiceError} 409 */
function requireWebMcp({ isSupported }: ToolWatch): void {
  if (!isSupported) throw ServiceError.of(noWebMcp);
}

/** A tab may close, or its page crash, while it is read. */
function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof CdpError || (ServiceError.isInstance(error) && error.status === 409)) return undefined;
    throw error;
  });
}

async function findTool(watch: ToolWatch, ref: string): Promise<ListedTool | undefined> {
  const { tools } = await listTools(watch);
  const refs = await Promise.all(tools.map(async (tool) => refOf(watch, tool)));
  return tools[refs.indexOf(ref)];
}

function metadataOf({ autosubmit, shown, title }: ListedTool): WebMcpTool["tool"] {
  const { consequential, description, input_schema, name, read_only, untrusted_content } = shown;
  return {
    name,
    description,
    inputSchema: input_schema ?? { type: "object" },
    ...(title !== undefined && { title }),
    annotations: {
      readOnlyHint: read_only,
      consequentialHint: consequential,
      untrustedContentHint: untrusted_content,
      ...(autosubmit !== undefined && { autosubmit }),
    },
  };
}

/** Changes with the document and the definition of the tool. */
function refOf(watch: ToolWatch, { frame, shown }: ListedTool): Promise<string> {
  return watch.refOf([frame.id, frame.loaderId, shown]);
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] ?? "";
}

interface Limits {
  readonly call: Invoke;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/** Some readers cannot take deep answers. */
function shallow(invocation: WebMcpInvocation): WebMcpInvocation {
  const { output, ...others } = invocation;
  return isShallow(output)
    ? invocation
    : { ...others, status: "error", error_text: "The result is nested too deeply." };
}

function silence(name: string, seconds: number): string {
  return `The tool ${name} did not answer within ${String(seconds)} seconds.`;
}

async function invoke(
  watch: ToolWatch,
  tool: ListedTool,
  { call, milliseconds, signal }: Limits,
): Promise<WebMcpInvocation> {
  const started = startTool(watch, tool, { input: call.input, missing: unknownRef, signal });
  const id = started.invocationId.catch(() => undefined);
  // The call of a form without autosubmit is answered when the form is submitted, or at once if it cannot be filled.
  const filled = started.invocationId
    .then(() => watch.afterTasks(tool.frame.id, tool.target))
    .then(() => "filled" as const);
  filled.catch(() => undefined);
  const ended = tool.autosubmit === false ? Promise.race([started.responded, filled]) : started.responded;
  const name = JSON.stringify(tool.shown.name.slice(0, 100));
  const unknown = async (problem: string) =>
    unknownOutcome(problem, await pTimeout(id, { milliseconds: idMs, fallback: () => undefined }));
  const waiting = started.outcome(ended, { seconds: milliseconds / 1000, signal });
  const outcome = await waiting.catch(async (error: unknown) => {
    if (signal.aborted || (ServiceError.isInstance(error) && error.code === "tool_not_found")) throw error;
    throw await unknown(`The page of the tool ${name} crashed, or went, during the call.`);
  });
  switch (outcome.kind) {
    case "done":
      return { invocation_id: (await id) ?? "", ...resultOf(outcome.result) };
    case "dialog":
      throw await unknown(`The tool ${name} opened a dialog, and its result is lost.`);
    case "gone":
      throw await unknown(`The tab of the tool ${name} was closed during the call.`);
    case "silent":
      throw await unknown(silence(name, call.timeout_sec));
  }
}

function resultOf(response: ToolResponse | "filled"): Omit<WebMcpInvocation, "invocation_id"> {
  if (response === "filled")
    return { status: "awaiting_submission", output: { form_populated: true, submitted: false } };
  const { errorText = "", exception, status } = response;
  const output: unknown = response.output;
  const reason = (exception?.description ?? errorText).slice(0, maxErrorCharacters);
  if (status !== "Completed")
    return { status: status === "Canceled" ? "canceled" : "error", ...(reason !== "" && { error_text: reason }) };
  if (!fitsAsJson(output, maxResultCharacters))
    return { status: "error", error_text: `The result exceeds ${String(maxResultCharacters)} characters of JSON.` };
  return { status: "completed", ...(output !== undefined && { output }) };
}

function notFoundInTime(seconds: number): ServiceError {
  return new ServiceError(
    409,
    "page_not_responding",
    `No tool was called: pages did not answer for ${String(seconds)} s`,
    {
      field: "body.timeout_sec",
      limit: seconds,
      hint: "Close tabs that are busy, or send a larger value.",
    },
  );
}

function unknownOutcome(problem: string, invocationId: string | undefined): ServiceError {
  return new ServiceError(504, "outcome_unknown", problem, {
    hint: "Observe the page: the tool may have had effects.",
    ...(invocationId !== undefined && { fields: { invocation_id: invocationId } }),
  });
}
