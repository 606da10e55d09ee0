import { writeFileSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { type BrowserLaunch, firstLaunch } from "./chromium/launch.ts";
import { spawnChromium } from "./chromium/spawn.ts";
import { startEgressForwarder } from "./egress-forwarder.ts";
import { closeInheritedDescriptors } from "./inherited-descriptors.ts";
import { commandMark } from "./process/escaped-processes.ts";
import { rememberProcessGroups } from "./process/process-groups.ts";
import type { InstanceConfig } from "./protocol.ts";

/** Chromium needs longer than everything else: it is started before the rest of the program is even read. */
async function start(document: string | undefined): Promise<void> {
  if (document === undefined) throw new Error("SHOAL_INSTANCE is not set: this program is started by the service, not by hand.");
  // What the placement wrote, which is as trusted as this program.
  const config = JSON.parse(document) as InstanceConfig;
  closeInheritedDescriptors();
  // The system names the loader that has started Node.
  if (config.node !== undefined) process.execPath = config.node;
  const forwarder = await startEgressForwarder(config.egress_path);
  offerMemoryFirst();
  // Inherited by what no command starts, the browser and Playwright code, so that no command's end takes it along.
  process.env[commandMark] = "session";
  const remember = rememberProcessGroups(config);
  const spawn = (launch?: BrowserLaunch) => {
    const spawned = spawnChromium(config, forwarder.browserPort, launch);
    // Helpers of a browser that was killed may take a moment to go, and show nobody whose they are.
    if (spawned.process.pid !== undefined) remember(spawned.process.pid);
    return spawned;
  };
  const chromium = spawn();
  if (config.cache_dir !== undefined) enableCompileCache(config.cache_dir);
  const { runInstance } = await import("./program.ts");
  runInstance({ config, forwarder, chromium, spawn });
}

/** When memory runs out, the kernel is to end a session and not the service. Chromium gives its renderers 300 on top of zero, so this stays below. */
function offerMemoryFirst(): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/self/oom_score_adj", "200");
  } catch {
    // The box has set it before this program started, or the kernel forbids it.
  }
}

/** Compiles the program into `directory`, for instances that can only read it. */
async function fillCache(directory: string): Promise<void> {
  enableCompileCache(directory);
  const [, { readAssign }, { createOperations }, { SessionDownloads }] = await Promise.all([
    import("./program.ts"),
    import("./session/read-assign.ts"),
    import("./operations.ts"),
    import("./downloads/session-downloads.ts"),
  ]);
  // Only functions that have run are kept.
  readAssign(JSON.stringify({ session_id: "cache", timeout_seconds: 60, viewport: { width: 1, height: 1 } }));
  const none = new Promise<never>(() => undefined);
  const config: InstanceConfig = {
    instance_id: "cache",
    listen_path: "",
    egress_path: "",
    root: "/",
    home: "/",
    session_dir: "/",
    chromium: { executable: "", kind: "headless_shell", inner_sandbox: true },
    viewport: { width: 1, height: 1 },
  };
  const logs = {
    add: () => undefined,
    of: () => {
      throw new Error("Nothing is ever asked.");
    },
    close: () => undefined,
  };
  createOperations({
    root: { directory: "/", home: "/" },
    config,
    logs,
    browser: {
      cdp: () => none,
      endpoint: () => none,
      launch: firstLaunch(config),
      onBrowser: () => () => undefined,
      relaunch: () => none,
      downloads: new SessionDownloads(config),
    },
    telemetry: { present: () => undefined, load: () => none },
  });
  flushCompileCache();
}

/** Runs Playwright code for an instance, in a process of its own. */
async function runPlaywright(cacheDir: string | undefined): Promise<void> {
  if (cacheDir !== undefined && cacheDir !== "") enableCompileCache(cacheDir);
  const { runWorker } = await import("./playwright/playwright-worker.ts");
  runWorker();
}

function run(option: string | undefined, directory: string | undefined): Promise<void> {
  if (option === "--playwright-worker") return runPlaywright(directory);
  return option === "--fill-cache" && directory !== undefined ? fillCache(directory) : start(process.env.SHOAL_INSTANCE);
}

run(process.argv[2], process.argv[3]).catch((error: unknown) => {
  process.stderr.write(`${JSON.stringify({ level: "error", message: "the instance could not start", error: String(error) })}\n`);
  process.exit(1);
});
