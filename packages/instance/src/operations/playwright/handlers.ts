import type { executePlaywright } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { join } from "node:path";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { EgressFailures } from "../../egress/failures.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { PlaywrightRunner } from "./playwright-runner.ts";

export interface PlaywrightParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "downloads" | "endpoint">;
  readonly failures: EgressFailures | undefined;
  readonly visibleTarget: () => Promise<string | undefined>;
}

export function playwrightHandlers({ root, config, browser, failures, visibleTarget }: PlaywrightParts): {
  readonly handlers: Handlers<{ executePlaywright: typeof executePlaywright }>;
  readonly close: () => Promise<void>;
} {
  let runner: Promise<PlaywrightRunner> | undefined;
  let closed = false;
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
        return (await runner).run(body.code, body.timeout_sec, signal);
      },
    },
    async close() {
      closed = true;
      await (await runner)?.close();
    },
  };
}
