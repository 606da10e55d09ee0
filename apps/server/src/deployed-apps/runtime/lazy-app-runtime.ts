import type { AppOutput, AppProgram, AppRuntime, BuildSource, BuiltApp, RunnableApp } from "./app-runtime.ts";

/** Opens a runtime on its first use: most services run no apps. */
export class LazyAppRuntime implements AppRuntime {
  readonly #open: () => Promise<AppRuntime>;
  #opened: Promise<AppRuntime> | undefined;
  #isClosed = false;

  constructor(open: () => Promise<AppRuntime>) {
    this.#open = open;
  }

  async build(source: BuildSource, on: AppOutput, signal: AbortSignal): Promise<BuiltApp> {
    return (await this.#runtime()).build(source, on, signal);
  }

  async start(app: RunnableApp, on: AppOutput, signal: AbortSignal): Promise<AppProgram> {
    return (await this.#runtime()).start(app, on, signal);
  }

  async has(artifact: string): Promise<boolean> {
    return (await this.#runtime()).has(artifact);
  }

  async remove(artifact: string): Promise<void> {
    await (await this.#runtime()).remove(artifact);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  #runtime(): Promise<AppRuntime> {
    if (this.#isClosed) return Promise.reject(new Error("The service is shutting down."));
    // A failure, for example a full disk, may pass.
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}
