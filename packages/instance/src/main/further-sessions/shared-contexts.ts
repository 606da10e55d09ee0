import { ServiceError } from "@shoal/router";
import { messageOf } from "@shoal/primitives";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { ContextBrowser, openContext } from "../../browser/virtual/context-browser.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { startEgressForwarder } from "../../egress/forwarder.ts";
import type { InstanceConfig, OpenContext } from "../../protocol/protocol.ts";
import { log } from "../../system/log.ts";
import type { ProgramParts, SessionProgram } from "./program-parts.ts";

export interface SharedContextsOptions {
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "endpoint" | "launch">;
  readonly createProgram: (parts: ProgramParts) => SessionProgram;
}

interface RunningContext {
  end(): void;
  readonly gone: Promise<void>;
}

/** Sessions that share the browser of this instance. Each has its own socket, files, proxy and browser context. */
export class SharedContexts {
  readonly #options: SharedContextsOptions;
  readonly #running = new Map<string, RunningContext>();

  constructor(options: SharedContextsOptions) {
    this.#options = options;
  }

  /** Returns what a separate instance prints to stdout. It ends when nothing of the session is left. */
  open(request: OpenContext): Readable {
    if (this.#running.has(request.context_id))
      throw new ServiceError(409, "conflict", `Context ${request.context_id} exists already.`);
    const output = new PassThrough();
    const ended = Promise.withResolvers<undefined>();
    const gone = this.#run(request, output, ended.promise)
      .catch((error: unknown) => {
        log("error", "a session of a shared browser failed", {
          context_id: request.context_id,
          error: messageOf(error),
        });
      })
      .then(() => {
        this.#running.delete(request.context_id);
        output.end();
      });
    const end = (): void => {
      ended.resolve(undefined);
    };
    this.#running.set(request.context_id, { end, gone });
    // The service is gone.
    output.once("close", end);
    return output;
  }

  /** Resolves when nothing of the session is left. */
  async stop(contextId: string): Promise<void> {
    const running = this.#running.get(contextId);
    running?.end();
    await running?.gone;
  }

  async #run(request: OpenContext, output: PassThrough, ended: Promise<undefined>): Promise<void> {
    const config = await this.#prepare(request);
    const forwarder = await startEgressForwarder(config.egress_path);
    try {
      await this.#serve({ config, forwarder }, output, ended);
    } finally {
      forwarder.close();
      await rm(config.session_dir, { recursive: true, force: true });
    }
  }

  async #serve(
    { config, forwarder }: Pick<ProgramParts, "config" | "forwarder">,
    output: PassThrough,
    ended: Promise<undefined>,
  ): Promise<void> {
    const place = await openContext(this.#options.browser, { root: config.root, proxyPort: forwarder.browserPort });
    const shutDown = Promise.withResolvers<undefined>();
    let browser: ContextBrowser | undefined;
    const program = this.#options.createProgram({
      config,
      forwarder,
      isShared: true,
      superviseBrowser: (events) => (browser = new ContextBrowser(config, place, events)),
      onListening: () => {
        output.write('{"listening":true}\n');
      },
      onShutDown: () => {
        shutDown.resolve(undefined);
      },
    });
    try {
      await browser?.start();
      program.listen();
      void ended.then(() => {
        program.end();
      });
      await shutDown.promise;
    } finally {
      await browser?.stop();
    }
  }

  async #prepare({ context_id, egress_path, listen_path, viewport }: OpenContext): Promise<InstanceConfig> {
    const { chromium, home, session_dir } = this.#options.config;
    const folder = join(session_dir, "contexts", context_id);
    const root = join(folder, "root");
    await Promise.all([
      mkdir(join(root, home, "Downloads"), { recursive: true }),
      mkdir(join(root, "tmp"), { recursive: true }),
      mkdir(join(folder, "tmp"), { recursive: true }),
    ]);
    return { instance_id: context_id, listen_path, egress_path, root, home, session_dir: folder, chromium, viewport };
  }
}
