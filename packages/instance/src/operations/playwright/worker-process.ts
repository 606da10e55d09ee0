import { startChildProgram } from "../../system/child-program.ts";
import type { CloseMessage, CodeTab, OutputChannel, Outcome, RunMessage } from "./messages.ts";

export interface RunListener {
  onOutput(channel: OutputChannel, text: string): void;
  /** At most once. */
  onTab(tab: CodeTab): void;
  /** The code's connection to the browser stays open until it resolves. */
  beforeClose(): Promise<void>;
}

export interface WorkerProcess {
  readonly ready: Promise<void>;
  readonly hasEnded: boolean;
  /** Never rejects: when the process ends, `clean` is false in the outcome. */
  run(message: RunMessage, listener: RunListener): Promise<{ readonly outcome: Outcome; readonly clean: boolean }>;
  kill(): void;
}

export interface WorkerOptions {
  /** The program file; runs as a worker with `--playwright-worker`. */
  readonly program: string;
  readonly directory: string;
  readonly cacheDir: string | undefined;
}

export function startWorker(options: WorkerOptions): WorkerProcess {
  // The worker sends output as messages, in order with results.
  const { kill, process: child } = startChildProgram({
    ...options,
    args: ["--playwright-worker", options.cacheDir ?? ""],
  });
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  let onMessage: (message: Readonly<Record<string, unknown>>) => void = () => undefined;
  let onEnd: (reason: string) => void = () => undefined;
  let hasEnded = false;

  function end(reason: string, cause?: Error): void {
    hasEnded = true;
    ready.reject(new Error(`the process for Playwright code ${reason}`, { cause }));
    onEnd(reason);
  }
  child.on("error", (error) => {
    end(`could not be started: ${error.message}`, error);
  });
  child.on("exit", (code, signal) => {
    kill();
    end(signal === null ? `ended with exit code ${String(code)}` : `ended with signal ${signal}`);
  });
  child.on("message", (message: unknown) => {
    if (typeof message !== "object" || message === null) return;
    const fields = message as Readonly<Record<string, unknown>>;
    if (fields.type === "ready") ready.resolve();
    else onMessage(fields);
  });

  function tellToClose(): void {
    const message: CloseMessage = { type: "close" };
    if (child.connected) child.send(message);
  }

  return {
    ready: ready.promise,
    get hasEnded() {
      return hasEnded;
    },
    kill,
    run(message, listener) {
      return new Promise((resolve) => {
        onEnd = (reason) => {
          resolve({ outcome: { success: false, error: `The process that ran the code ${reason}.` }, clean: false });
        };
        let hasTab = false;
        onMessage = (fields) => {
          if (fields.type === "tab") {
            const tab = hasTab ? undefined : tabIn(fields.tab);
            hasTab = true;
            if (tab !== undefined) listener.onTab(tab);
          } else if (
            fields.type === "output" &&
            (fields.channel === "stdout" || fields.channel === "stderr") &&
            typeof fields.text === "string"
          )
            listener.onOutput(fields.channel, fields.text);
          else if (fields.type === "ended") void listener.beforeClose().then(tellToClose);
          else if (fields.type === "done")
            resolve({ outcome: outcomeIn(fields.outcome), clean: fields.clean === true });
        };
        if (child.connected) child.send(message);
        else onEnd("has ended");
      });
    },
  };
}

function tabIn(value: unknown): CodeTab | undefined {
  const fields = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const { created, targetId } = fields;
  return typeof targetId === "string" && targetId.length <= 100 ? { targetId, created: created === true } : undefined;
}

function outcomeIn(value: unknown): Outcome {
  const fields = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  if (fields.success === true)
    return { success: true, result: typeof fields.result === "string" ? fields.result : undefined };
  return {
    success: false,
    error: typeof fields.error === "string" ? fields.error : "The code failed.",
    ...(fields.unreached === true && { unreached: true }),
  };
}
