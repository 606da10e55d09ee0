import type { deletePlaywrightExecutor, executePlaywright, listPlaywrightExecutors } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { join } from "node:path";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { EgressFailures } from "../../egress/failures.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import { Executors } from "./executors.ts";
import type { PlaywrightRunner } from "./playwright-runner.ts";

export interface PlaywrightParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "downloads" | "endpoint">;
  readonly failures: EgressFailures | undefined;
  readonly visibleTarget: () => Promise<string | undefined>;
}

export function playwrightHandlers({ root, config, browser, failures, visibleTarget }: PlaywrightParts): {
  readonly handlers: Handlers<{
    deletePlaywrightExecutor: typeof deletePlaywrightExecutor;
    executePlaywright: typeof executePlaywright;
    listPlaywrightExecutors: typeof listPlaywrightExecutors;
  }>;
  readonly endProcesses: () => void;
  readonly close: () => Promise<void>;
} {
  let runner: Promise<PlaywrightRunner> | undefined;
  let closed = false;
  const executors = new Executors(() => browser.cdp());
  async function load(): Promise<PlaywrightRunner> {
    const { PlaywrightRunner } = await import("./playwright-runner.ts");
    const created = new PlaywrightRunner({
      program: process.argv[1] ?? "",
      directory: join(root.directory, root.home),
      cacheDir: config.cache_dir,
      endpoint: () => browser.endpoint(),
      visibleTarget,
      failures,
      downloads: browser.downloads,
    });
    if (closed) void created.close();
    return created;
  }
  return {
    handlers: {
      async executePlaywright({ body, signal }) {
        runner ??= load();
        const call = { code: body.code, timeoutSeconds: body.timeout_sec, signal };
        return executors.run(await runner, body.executor, call);
      },
      listPlaywrightExecutors: async () => ({ executors: await executors.list() }),
      deletePlaywrightExecutor: ({ params, query, signal }) => executors.delete(params.name, query.close_tab, signal),
    },
    endProcesses() {
      void runner?.then((loaded) => {
        loaded.endProcesses();
      });
    },
    async close() {
      closed = true;
      await (await runner)?.close();
    },
  };
}
