import type { runRepl } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { join } from "node:path";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { SessionRoot } from "../fs/paths.ts";
import { Repl } from "./repl.ts";

export interface ReplParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "endpoint">;
  /** Of commands of the session. */
  readonly environment: () => Readonly<Record<string, string>>;
  readonly visibleTarget: () => Promise<string | undefined>;
}

export function replHandlers({ root, config, browser, environment, visibleTarget }: ReplParts): {
  readonly handlers: Handlers<{ runRepl: typeof runRepl }>;
  readonly endProcess: (reason: string) => void;
  readonly close: () => void;
} {
  const repl = new Repl({
    start: () => ({
      program: process.argv[1] ?? "",
      directory: join(root.directory, root.home),
      cacheDir: config.cache_dir,
      environment: { ...environment(), NODE_USE_ENV_PROXY: "1" },
    }),
    endpoint: () => browser.endpoint(),
    visibleTarget,
  });
  return {
    handlers: {
      runRepl: ({ body, signal }) =>
        repl.run({ code: body.code, reset: body.reset, timeoutSeconds: body.timeout_sec, signal }),
    },
    endProcess: (reason) => {
      repl.endProcess(reason);
    },
    close: () => {
      repl.close();
    },
  };
}
