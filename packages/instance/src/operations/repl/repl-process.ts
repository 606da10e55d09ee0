import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { startChildProgram } from "../../system/child-program.ts";
import { CustomTools } from "./custom-tools.ts";
import {
  type AnsweredError,
  type CellEnd,
  maxErrorCharacters,
  maxStackCharacters,
  type ReplOrder,
  type ReplQuestion,
  type RunCell,
} from "./messages.ts";
import { type Fields, OutputBuffer } from "./output-buffer.ts";

export interface ReplProcessOptions {
  /** The program file; runs as a REPL with `--repl`. */
  readonly program: string;
  readonly directory: string;
  readonly cacheDir: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** Answers a question of the code, which may be anything. */
  readonly answer: (process: ReplProcess, method: unknown, params: unknown) => Promise<unknown>;
  readonly isUrlPattern: (text: string) => boolean;
}

/** Questions of the code whose answers it does not have. */
const maxQuestions = 20;
/** With refused ones: code that asks on and reads nothing is ended. */
const maxUnread = 10_000;
/** A forged answer may be longer than a result. */
const maxErrorText = 4_000;

/** A process that exits closes its channel a moment earlier. */
const closedMs = 1_000;

/** A process that keeps the state of code between calls. */
export class ReplProcess {
  readonly id = createId();
  readonly output = new OutputBuffer();
  readonly ready: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #child: ReturnType<typeof startChildProgram>;
  readonly #options: ReplProcessOptions;
  /** Definitions of the tools whose functions the process has. */
  readonly customTools: CustomTools;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #lastAsked = 0;
  /** The latest error that code of the process got for an addition of tools. */
  #refusedAddition: ServiceError | undefined;
  #questions = 0;
  #unread = 0;
  #cell = 0;
  #end: (CellEnd & { readonly success: false }) | undefined;
  #onDone: ((end: CellEnd) => void) | undefined;

  constructor(options: ReplProcessOptions) {
    this.#options = options;
    this.customTools = new CustomTools(options.isUrlPattern);
    this.ready = this.#ready.promise;
    this.ready.catch(() => undefined);
    this.#child = startChildProgram({ ...options, args: ["--repl", options.cacheDir ?? ""] });
    const { process: child } = this.#child;
    child.on("error", (error) => {
      this.#ended(`could not be started: ${error.message}`, error);
    });
    child.on("exit", (code, signal) => {
      this.#ended(signal === null ? `ended with exit code ${String(code)}` : `ended with signal ${signal}`);
    });
    child.on("disconnect", () => {
      setTimeout(() => {
        if (this.#end === undefined) this.#ended("closed its channel to the service");
      }, closedMs).unref();
    });
    child.on("message", (message: unknown) => {
      if (typeof message === "object" && message !== null) this.#received(message as Fields);
    });
  }

  /** Why it has ended; `undefined` while it runs. */
  get end(): (CellEnd & { readonly success: false }) | undefined {
    return this.#end;
  }

  /** Never rejects: the end of the process ends the code. */
  run(cell: Omit<RunCell, "type" | "cell">): Promise<CellEnd> {
    return new Promise((resolve) => {
      this.#onDone = resolve;
      if (this.#end !== undefined) resolve(this.#end);
      else this.#order({ type: "run", ...cell, cell: ++this.#cell });
    });
  }

  /**
   * An aborted signal ends the process: nothing else ends code that runs in it.
   * Rejects with an {@link AskFailure} of the code, when the process ends, and with the signal's reason.
   */
  async ask(question: Pick<ReplQuestion, "browser" | "method" | "params">, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (this.#end !== undefined) throw new Error(this.#end.error);
    const id = ++this.#lastAsked;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(id, asked);
    const stop = (): void => {
      asked.reject(signal.reason);
      this.stop("The code of a custom tool was stopped before its end. The process was ended, and its state is lost.");
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.#order({ type: "ask", id, ...question });
      return await asked.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#asked.delete(id);
    }
  }

  get refusedAddition(): ServiceError | undefined {
    return this.#refusedAddition;
  }

  removeTool(id: string): boolean {
    const isKnown = this.customTools.remove(id);
    if (isKnown) this.#order({ type: "keep", ids: this.customTools.list().map((tool) => tool.id) });
    return isKnown;
  }

  /** @param sent - is called when the process has taken the order, or cannot. */
  #order(order: ReplOrder, sent = (): void => undefined): void {
    // Its channel may have been closed.
    if (this.#child.process.connected) this.#child.process.send(order, sent);
    else sent();
  }

  /** Ends its process group. @param error - the answer to a running call. */
  stop(error: string): void {
    this.#finish({ success: false, error });
  }

  #ended(reason: string, cause?: Error): void {
    this.#ready.reject(new Error(`the process ${reason}`, { cause }));
    this.#finish({ success: false, error: `The process of the REPL ${reason}.` });
  }

  /** Code that has ended its process may not keep it alive. */
  #finish(end: CellEnd & { readonly success: false }): void {
    const first = (this.#end ??= end);
    this.#child.kill();
    this.#onDone?.(first);
    for (const { reject } of this.#asked.values()) reject(new Error(first.error));
  }

  #received(fields: Fields): void {
    switch (fields.type) {
      case "ready":
        this.#ready.resolve();
        break;
      case "text":
        this.output.addText(fields);
        break;
      case "image":
        this.output.addImage(fields);
        break;
      case "fatal":
        this.#finish(failureIn(fields));
        break;
      case "done":
        this.#onDone?.(endIn(fields.end));
        break;
      case "ask":
        void this.#answer(fields);
        break;
      case "answer":
        this.#asked.get(Number(fields.id))?.resolve(fields.value);
        break;
      case "failure":
        this.#asked.get(Number(fields.id))?.reject(failureOf(fields));
        break;
    }
  }

  /** Never rejects. */
  async #answer({ id, method, params }: Fields): Promise<void> {
    if (typeof id !== "number") return;
    if (this.#end !== undefined) return;
    if (++this.#unread > maxUnread) {
      this.stop("The code sent questions without reading the answers. The process was ended, and its state is lost.");
      return;
    }
    const isAllowed = this.#questions < maxQuestions;
    if (isAllowed) this.#questions += 1;
    const sent = (): void => {
      this.#unread -= 1;
      if (isAllowed) this.#questions -= 1;
    };
    try {
      if (!isAllowed) throw tooManyQuestions();
      this.#order({ type: "answer", id, value: await this.#options.answer(this, method, params) }, sent);
    } catch (error) {
      if (ServiceError.isInstance(error) && method === "addCustomTools") this.#refusedAddition = error;
      this.#order({ type: "answer", id, error: answeredError(error) }, sent);
    }
  }
}

/** An error of the code that a question ran. */
export class AskFailure extends Error {}

function failureOf({ error }: Fields): AskFailure {
  return new AskFailure(typeof error === "string" ? error.slice(0, maxErrorText) : "The code failed.");
}

function tooManyQuestions(): ServiceError {
  return new ServiceError(
    429,
    "too_many_requests",
    `${String(maxQuestions)} calls of webmcp run or have unread answers, the limit.`,
    {
      limit: maxQuestions,
      hint: "Wait for one to end.",
    },
  );
}

function answeredError(error: unknown): AnsweredError {
  if (!ServiceError.isInstance(error))
    return { message: "The call failed.", statusCode: 500, code: "internal_error", body: {} };
  const body = error.toBody();
  const { invocation_id: invocationId } = body as { readonly invocation_id?: unknown };
  return {
    message: error.message,
    statusCode: error.status,
    code: error.code,
    ...(typeof invocationId === "string" && { invocationId }),
    body,
  };
}

function endIn(value: unknown): CellEnd {
  const fields = typeof value === "object" && value !== null ? (value as Fields) : {};
  return fields.success === true ? { success: true } : failureIn(fields);
}

function failureIn({ error, stack }: Fields): CellEnd & { readonly success: false } {
  return {
    success: false,
    error: typeof error === "string" ? error.slice(0, maxErrorCharacters) : "The code failed.",
    ...(typeof stack === "string" && { stack: stack.slice(0, maxStackCharacters) }),
  };
}
