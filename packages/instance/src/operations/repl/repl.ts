import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ReplResult, WebMcpInvocation } from "@shoal/schemas";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import { Turns } from "../../system/turns.ts";
import { processStartError, startTimeoutMs } from "../playwright/process-limit.ts";
import type { PresentBrowser } from "./messages.ts";
import { AskFailure, ReplProcess, type ReplProcessOptions } from "./repl-process.ts";
import type { CustomTool } from "./custom-tools.ts";

const maxWaiting = 32;
const endpointTimeoutMs = 5_000;
const addSeconds = 60;
const maxErrorCharacters = 4_000;
const maxOutputCharacters = 1_000_000;

export interface ReplOptions {
  readonly start: () => ReplProcessOptions;
  endpoint(): Promise<BrowserEndpoint>;
  visibleTarget(): Promise<string | undefined>;
}

export interface ReplCall {
  readonly code: string;
  readonly reset: boolean;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

export interface ToolSource {
  readonly namespace: string;
  readonly source: string;
  readonly force: boolean;
  readonly signal: AbortSignal;
}

/** The process of a session that keeps the state of code between calls. One call runs at once. */
export class Repl {
  readonly #options: ReplOptions;
  readonly #turns = new Turns({ running: 1, waiting: maxWaiting });
  readonly #closing = new AbortController();
  #process: ReplProcess | undefined;

  constructor(options: ReplOptions) {
    this.#options = options;
  }

  /** @throws {ServiceError} 429 at a limit, 503 when the session ends. Throws the signal's reason when it is aborted. */
  run(call: ReplCall): Promise<ReplResult> {
    return this.#taking(call.signal, () => this.#inTurn(call));
  }

  /** Custom tools of the present process. */
  get customTools(): readonly CustomTool[] {
    return this.#process?.end === undefined ? (this.#process?.customTools.list() ?? []) : [];
  }

  /** @throws {ServiceError} 400 for an invalid source, 409 for a taken name, 429 at a limit, 503 when the session ends. */
  addTools(call: ToolSource): Promise<readonly CustomTool[]> {
    return this.#taking(call.signal, () => this.#addTools(call));
  }

  /** @returns false for an unknown tool. */
  removeTool(id: string): boolean {
    return this.#process?.end === undefined && this.#process?.removeTool(id) === true;
  }

  /** Runs a tool of kind `cdp`, next to other code. Rejects when its process ends, and ends it when `signal` is aborted. */
  async invokeTool(
    id: string,
    call: { readonly input: object; readonly matches: readonly object[] },
    signal: AbortSignal,
  ): Promise<Pick<WebMcpInvocation, "error_text" | "output" | "status">> {
    const process = this.#process;
    if (process === undefined) throw new Error("The process of the tool has ended.");
    const browser = await this.#browser();
    const value = await process.ask({ method: "invoke", params: { id, ...call }, browser }, signal);
    const { error_text: text, output, status } = (typeof value === "object" ? value : {}) as Record<string, unknown>;
    if (status === "completed" && (output === undefined || JSON.stringify(output).length <= maxOutputCharacters))
      return { status, ...(output !== undefined && { output }) };
    return {
      status: "error",
      error_text: typeof text === "string" ? text.slice(0, maxErrorCharacters) : "The tool failed.",
    };
  }

  async #taking<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#turns.isFull)
      throw new ServiceError(
        429,
        "too_many_requests",
        `A call of the REPL runs and ${String(maxWaiting)} wait, the limits.`,
        {
          limit: maxWaiting,
          hint: "Wait for one to end.",
          retryAfterSeconds: 1,
        },
      );
    const endTurn = await this.#turns.take(anySignal([signal, this.#closing.signal]));
    try {
      return await work();
    } finally {
      endTurn();
    }
  }

  close(): void {
    this.#closing.abort(new ServiceError(503, "shutting_down", "The session ended while code ran, or waited to run."));
    this.#process?.stop("The session ended.");
  }

  /** The next call starts another process, and its answer names the reason. */
  endProcess(reason: string): void {
    this.#process?.stop(reason);
  }

  async #inTurn(call: ReplCall): Promise<ReplResult> {
    if (call.reset) this.#reset();
    const process = await this.#ready();
    this.#closing.signal.throwIfAborted();
    // The caller may have left, or a handoff begun, while the process started.
    call.signal.throwIfAborted();
    const began = performance.now();
    const end = call.code === "" ? { success: true as const } : await this.#runCode(process, call);
    this.#closing.signal.throwIfAborted();
    call.signal.throwIfAborted();
    // This answer tells its end, so the next one does not.
    if (process.end === end) this.#process = undefined;
    return {
      repl_id: process.id,
      ...end,
      ...process.output.take(),
      duration_ms: Math.round(performance.now() - began),
      repl_terminated: process.end !== undefined,
    };
  }

  async #addTools({ force, namespace, signal, source }: ToolSource): Promise<readonly CustomTool[]> {
    const process = await this.#ready();
    signal.throwIfAborted();
    const before = process.refusedAddition;
    const timer = setTimeout(() => {
      process.stop(
        `The source did not end within ${String(addSeconds)} s. The process was ended, and its state is lost.`,
      );
    }, addSeconds * 1000);
    try {
      const stopping = anySignal([signal, this.#closing.signal]);
      const params = { namespace, source, force };
      const value = await process.ask({ method: "addSource", params, browser: await this.#browser() }, stopping);
      const added = new Set(
        Array.isArray(value) ? value.map((tool: { readonly id?: unknown } | null) => tool?.id) : [],
      );
      return process.customTools.list().filter(({ id }) => added.has(id));
    } catch (error) {
      stopIfAborted(error, signal, this.#closing.signal);
      const { refusedAddition: refusal } = process;
      if (refusal !== undefined && refusal !== before && refusal.message === (error as Error).message) throw refusal;
      throw sourceFailed(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #reset(): void {
    this.#process?.stop("The REPL was reset.");
    this.#process = undefined;
  }

  async #runCode(process: ReplProcess, { code, signal, timeoutSeconds }: ReplCall) {
    const stop = (): void => {
      process.stop("The code was stopped.");
    };
    signal.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(() => {
      process.stop(
        `The code did not end within ${String(timeoutSeconds)} s (timeout_sec). The process was ended, and its state is lost.`,
      );
    }, timeoutSeconds * 1000);
    try {
      return await process.run({ code, ...(await this.#browser()) });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  async #browser(): Promise<PresentBrowser> {
    const [endpoint, visibleTarget] = await Promise.all([
      this.#endpoint(),
      this.#options.visibleTarget().catch(() => undefined),
    ]);
    return { endpoint, visibleTarget };
  }

  /** Code that needs no browser runs while the browser does not. */
  async #endpoint(): Promise<string | undefined> {
    const late = AbortSignal.timeout(endpointTimeoutMs);
    const none = new Promise<undefined>((resolve) => {
      late.addEventListener("abort", () => {
        resolve(undefined);
      });
    });
    const found = await Promise.race([this.#options.endpoint().catch(() => undefined), none]);
    return found === undefined ? undefined : `ws://127.0.0.1:${String(found.port)}${found.path}`;
  }

  async #ready(): Promise<ReplProcess> {
    const former = this.#process;
    if (former !== undefined && former.end === undefined) return former;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#process?.stop("The process of the REPL did not start.");
    }, startTimeoutMs);
    try {
      const process = new ReplProcess(this.#options.start());
      this.#process = process;
      if (former?.end !== undefined) {
        const text = `The process of earlier calls has ended: ${former.end.error}\n`;
        process.output.takeFrom(former.output);
        process.output.addText({ channel: "stderr", text });
      }
      await process.ready;
      return process;
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      throw processStartError("The REPL cannot be started", { error, isLate });
    } finally {
      clearTimeout(timer);
    }
  }
}

function stopIfAborted(error: unknown, ...signals: readonly AbortSignal[]): void {
  if (signals.some(({ aborted, reason }) => aborted && reason === error)) throw error;
}

function sourceFailed(error: unknown): ServiceError {
  const reason = error instanceof Error ? error.message : String(error);
  const hint =
    error instanceof AskFailure
      ? "The source must be an expression whose value is a list of tools."
      : "Add the tools again, in the new process.";
  return new ServiceError(400, "bad_request", reason.slice(0, maxErrorCharacters), { field: "body.source", hint });
}
