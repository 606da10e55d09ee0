import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { PageToolResult, PageTools } from "@shoal/schemas";
import { dialogOpen } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { fitsAsJson, maxResultCharacters } from "./bounded-json.ts";
import type { RunningTools } from "./running-tools.ts";
import { startTool } from "./start-tool.ts";
import { ambiguousTool, noWebMcp, toolDialog, toolFailed, toolNotFound, toolTimeout } from "./tool-errors.ts";
import { type ListedTool, listTools } from "./tool-list.ts";
import { type ToolResponse, ToolWatch } from "./tool-watch.ts";

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly origin?: string | undefined;
  readonly tab?: string | undefined;
  readonly timeout_seconds: number;
}

/** Lists and calls the tools that pages register with WebMCP. */
export class PageToolCaller {
  readonly #pages: SessionPages;
  readonly #running: RunningTools;
  readonly #closing = new AbortController();

  constructor(pages: SessionPages, running: RunningTools) {
    this.#pages = pages;
    this.#running = running;
  }

  /** @throws {ServiceError} 404 for an unknown tab, 409 without WebMCP or while a dialog is open. */
  list(tabId: string | undefined): Promise<PageTools> {
    return this.#watching(tabId, async (watch, tab) => {
      const { leftOut, tools } = await listTools(watch);
      return { ...(await this.#pageOf(tab)), tools: tools.map(({ shown }) => shown), left_out: leftOut };
    });
  }

  /** @throws {ServiceError} 404 for an unknown tool, 409 if it fails or does not answer. */
  call(call: Call, caller: AbortSignal): Promise<PageToolResult> {
    const signal = anySignal([caller, this.#closing.signal]);
    return this.#watching(call.tab, async (watch, tab) => {
      const tool = choose(call, (await listTools(watch)).tools);
      const response = await invoke(watch, tool, { call, signal, tab });
      const { tab: id, title, url } = await this.#pageOf(tab);
      return { name: call.name, origin: tool.shown.origin, ...resultOf(call.name, response), tab: id, url, title };
    });
  }

  close(): void {
    this.#closing.abort(new ServiceError(503, "shutting_down", "The session ended during the call."));
  }

  #watching<T>(tabId: string | undefined, use: (watch: ToolWatch, tab: OpenTab) => Promise<T>): Promise<T> {
    return this.#running.count(async () => {
      const tab = await this.#pages.tab(tabId);
      const { dialog } = tab.page.session;
      if (dialog !== undefined) throw ServiceError.of(dialogOpen(tab.id, dialog));
      const watch = await ToolWatch.open(tab.page.cdp, tab.targetId);
      try {
        if (!watch.isSupported) throw ServiceError.of(noWebMcp);
        return await use(watch, tab);
      } finally {
        await watch.closeAfterDialog();
      }
    });
  }

  async #pageOf({ id }: OpenTab): Promise<Pick<PageTools, "tab" | "url" | "title">> {
    const { title = "", url = "" } = (await this.#pages.tabs()).find((tab) => tab.id === id) ?? {};
    return { tab: id, url, title };
  }
}

/** Without an origin, a tool of the page itself comes before those of its frames. */
function choose({ name, origin }: Call, tools: readonly ListedTool[]): ListedTool {
  const named = tools.filter(({ shown }) => shown.name === name && (origin === undefined || shown.origin === origin));
  const [first] = named;
  if (first === undefined)
    throw ServiceError.of(toolNotFound(name, origin, [...new Set(tools.map(({ shown }) => shown.name))]));
  const origins = [...new Set(named.map(({ shown }) => shown.origin))];
  if (!first.shown.main_frame && origins.length > 1) throw ServiceError.of(ambiguousTool(name, origins));
  return first;
}

interface Invocation {
  readonly call: Call;
  readonly signal: AbortSignal;
  readonly tab: OpenTab;
}

async function invoke(watch: ToolWatch, tool: ListedTool, invocation: Invocation): Promise<ToolResponse> {
  const { call, signal, tab } = invocation;
  const { session } = watch;
  const { name } = tool.shown;
  const started = startTool(watch, tool, {
    input: call.arguments,
    missing: () => ServiceError.of(toolNotFound(name, call.origin, [])),
    signal,
  });
  const outcome = await started.outcome(started.responded, { seconds: call.timeout_seconds, signal });
  switch (outcome.kind) {
    case "done":
      return outcome.result;
    case "dialog":
      throw ServiceError.of(toolDialog(name, tab.id, session.dialog));
    case "gone":
      throw session.endError();
    case "silent":
      throw ServiceError.of(toolTimeout(name, call.timeout_seconds));
  }
}

function resultOf(name: string, response: ToolResponse): Pick<PageToolResult, "result" | "is_error"> {
  const { errorText = "", exception, status } = response;
  const output: unknown = response.output;
  if (status === "Canceled") throw ServiceError.of(toolFailed(name, errorText === "" ? "cancelled" : errorText));
  if (status === "Error") throw ServiceError.of(toolFailed(name, exception?.description ?? errorText));
  if (!fitsAsJson(output, maxResultCharacters))
    throw ServiceError.of(toolFailed(name, `its result exceeds ${String(maxResultCharacters)} characters of JSON`));
  const isError = typeof output === "object" && output !== null && Reflect.get(output, "isError") === true;
  return { ...(output !== undefined && { result: output }), is_error: isError };
}
