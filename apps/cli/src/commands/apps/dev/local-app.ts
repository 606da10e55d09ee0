import type { Described } from "@shoal/app-runner";
import { messageOf } from "@shoal/primitives";
import { join } from "node:path";
import type { AppRunner } from "./load-app-runner.ts";
import { LocalBuilds, type LocalBuild, type LocalEntry, pythonOf } from "./local-builds.ts";
import { LocalProgram } from "./local-program.ts";

export interface LocalCall {
  readonly app_name: string;
  readonly action_name: string;
  readonly invocation_id: string;
  /** JSON. */
  readonly payload?: string | undefined;
}

export interface LocalResult {
  readonly status: "succeeded" | "failed";
  /** JSON. */
  readonly output?: string;
  readonly status_reason?: string;
}

export interface LocalAppOptions {
  readonly entry: LocalEntry;
  /** Of the app. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the shell. */
  readonly shell: NodeJS.ProcessEnv;
  readonly onLine: (source: "stdout" | "stderr" | "build", text: string) => void;
}

export type Reload =
  | { readonly apps: Described; readonly inputs: readonly string[] }
  | { readonly problem: readonly string[]; readonly inputs: readonly string[] };

interface Good {
  readonly build: LocalBuild;
  readonly apps: Described;
}

/** An app on this machine. One program has imported it and waits, as on the service. */
export class LocalApp {
  readonly #runner: AppRunner;
  readonly #options: LocalAppOptions;
  readonly #builds: LocalBuilds;
  readonly #programs = new Set<LocalProgram>();
  readonly #closing = new AbortController();
  #good: Good | undefined;
  #waiting: LocalProgram | undefined;
  #running: { readonly program: LocalProgram; isCancelled: boolean } | undefined;

  constructor(runner: AppRunner, options: LocalAppOptions) {
    this.#runner = runner;
    this.#options = options;
    this.#builds = new LocalBuilds(runner, options.entry);
  }

  async open(): Promise<void> {
    await this.#builds.open();
  }

  /** Empty before the first good build. */
  get apps(): Described {
    return this.#good?.apps ?? [];
  }

  /** Builds and imports the app. After a failure, the last good build stays. Calls must not overlap. */
  async reload(): Promise<Reload> {
    const { onLine } = this.#options;
    const built = await this.#builds.build((text) => {
      onLine("build", text);
    }, this.#closing.signal);
    if ("problem" in built) return built;
    const { inputs } = built;
    try {
      const { program, apps } = await this.#start(built);
      const [previous, waiting] = [this.#good, this.#waiting];
      this.#good = { build: built, apps };
      this.#waiting = program;
      await waiting?.stop();
      if (previous !== undefined) await this.#builds.remove(previous.build);
      return { apps, inputs };
    } catch (error) {
      await this.#builds.remove(built);
      return { problem: [messageOf(error)], inputs };
    }
  }

  /** Calls must not overlap. */
  async invoke({ payload, ...call }: LocalCall): Promise<LocalResult> {
    let program: LocalProgram;
    try {
      program = await this.#take();
    } catch (error) {
      return failed(messageOf(error));
    }
    const running = { program, isCancelled: false };
    this.#running = running;
    try {
      program.send({ type: "invoke", ...call, has_payload: payload !== undefined });
      if (payload !== undefined) program.sendValue(payload);
      const answer = await program.message();
      const how = await program.settle();
      if (answer?.message.type !== "result")
        return failed(
          running.isCancelled ? "The action was cancelled." : `The program ended before the action returned (${how}).`,
        );
      const { status, status_reason } = answer.message;
      return {
        status,
        ...(answer.value !== undefined && { output: answer.value }),
        ...(status_reason !== undefined && { status_reason }),
      };
    } finally {
      this.#running = undefined;
    }
  }

  /** Returns whether an action ran. */
  cancel(): boolean {
    const running = this.#running;
    if (running === undefined) return false;
    running.isCancelled = true;
    void running.program.stop();
    return true;
  }

  /** Starts the program of the next invocation. */
  async prepare(): Promise<void> {
    if (this.#waiting !== undefined || this.#good === undefined || this.#closing.signal.aborted) return;
    const { build } = this.#good;
    const { program } = await this.#start(build);
    if (this.#needs(build)) this.#waiting = program;
    else await program.stop();
  }

  /** A reload may have finished during the start of a program. */
  #needs(build: LocalBuild): boolean {
    return this.#good?.build === build && this.#waiting === undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#programs].map((program) => program.stop()));
    await this.#builds.close();
  }

  async #take(): Promise<LocalProgram> {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined && !waiting.isEnded) return waiting;
    if (this.#good === undefined) throw new Error("The app has no good build yet.");
    return (await this.#start(this.#good.build)).program;
  }

  async #start({ bundle }: LocalBuild): Promise<{ readonly program: LocalProgram; readonly apps: Described }> {
    const { entry, env, onLine, shell } = this.#options;
    this.#closing.signal.throwIfAborted();
    const program = new LocalProgram(this.#runner, { script: "runner.cjs", folder: entry.folder, env: shell, onLine });
    this.#programs.add(program);
    void program.ended.then(() => this.#programs.delete(program));
    try {
      program.send({
        type: "serve",
        forward: [],
        entry: join(entry.folder, entry.name),
        ...(bundle !== undefined && { bundle }),
        env,
        ...(entry.language === "python" && {
          python: { program: await pythonOf(entry.folder, shell), paths: [entry.folder] },
        }),
      });
      const first = (await program.message())?.message;
      if (first?.type === "ready" && first.apps.length > 0) return { program, apps: first.apps };
      if (first?.type === "ready")
        throw new Error(`${entry.name} registered no app. Register actions when the file is imported.`);
      const how = await program.settle();
      throw new Error(
        `${entry.name} failed when it was imported: ${first?.type === "failed" ? first.reason : `the program ended (${how})`}`,
      );
    } catch (error) {
      await program.stop();
      throw error;
    }
  }
}

function failed(reason: string): LocalResult {
  return { status: "failed", output: JSON.stringify({ error: reason }), status_reason: reason };
}
