import { createId } from "@shoal/primitives";
import { startChildProgram } from "../../system/child-program.ts";
import { type CellEnd, maxErrorCharacters, maxStackCharacters, type RunCell } from "./messages.ts";
import { type Fields, OutputBuffer } from "./output-buffer.ts";

export interface ReplProcessOptions {
  /** The program file; runs as a REPL with `--repl`. */
  readonly program: string;
  readonly directory: string;
  readonly cacheDir: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

/** A process that exits closes its channel a moment earlier. */
const closedMs = 1_000;

/** A process that keeps the state of code between calls. */
export class ReplProcess {
  readonly id = createId();
  readonly output = new OutputBuffer();
  readonly ready: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #child: ReturnType<typeof startChildProgram>;
  #cell = 0;
  #end: (CellEnd & { readonly success: false }) | undefined;
  #onDone: ((end: CellEnd) => void) | undefined;

  constructor(options: ReplProcessOptions) {
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
      else this.#child.process.send({ type: "run", ...cell, cell: ++this.#cell } satisfies RunCell);
    });
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
    }
  }
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
