import { writeFileSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { type BrowserLaunch, firstLaunch } from "../browser/chromium/launch.ts";
import { spawnChromium } from "../browser/chromium/spawn.ts";
import { startEgressForwarder } from "../egress/forwarder.ts";
import { closeInheritedDescriptors } from "../system/inherited-descriptors.ts";
import { commandMark } from "../operations/process/tracking/escaped-processes.ts";
import { rememberProcessGroups } from "../operations/process/tracking/process-groups.ts";
import type { InstanceConfig } from "../protocol/protocol.ts";

/** Their default is to stop the process, and code in the session can send them. Handlers, unlike ignored signals, end at its children. */
const stopSignals = ["SIGTSTP", "SIGTTIN", "SIGTTOU"] as const;

/** Starts Chromium before it loads the rest of the program, because Chromium takes the longest. */
async function start(document: string | undefined): Promise<void> {
  if (document === undefined)
    throw new Error("SHOAL_INSTANCE is not set: this program is started by the service, not by hand.");
  // The placement wrote this configuration, so it is trusted.
  const config = JSON.parse(document) as InstanceConfig;
  closeInheritedDescriptors();
  for (const signal of stopSignals) process.on(signal, () => undefined);
  // `/proc` names the loader that started Node.
  if (config.node !== undefined) process.execPath = config.node;
  const forwarder = await startEgressForwarder(config.egress_path);
  offerMemoryFirst();
  // The browser and Playwright code inherit this mark, so that the end of a command does not kill them.
  process.env[commandMark] = "session";
  const remember = rememberProcessGroups(config);
  const spawn = (launch?: BrowserLaunch) => {
    const spawned = spawnChromium(config, forwarder.browserPort, launch);
    // Helper processes may outlive a killed browser for a moment, and cannot be recognised as its children.
    if (spawned.process.pid !== undefined) remember(spawned.process.pid);
    return spawned;
  };
  const chromium = spawn();
  if (config.cache_dir !== undefined) enableCompileCache(config.cache_dir);
  const { runInstance } = await import("./program.ts");
  runInstance({ config, forwarder, chromium, spawn });
}

/** Makes the kernel kill a session before the service. Chromium adds 300 for its renderers, so this value is lower. */
function offerMemoryFirst(): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/self/oom_score_adj", "200");
  } catch {
    // Either the box has set the value already, or the kernel forbids it.
  }
}

/** Compiles the program into `directory`, for instances with read-only access to it. */
async function fillCache(directory: string): Promise<void> {
  enableCompileCache(directory);
  const [, { Operations }, { SessionDownloads }, { AutomationPause }, { TypedSecrets }] = await Promise.all([
    import("./program.ts"),
    import("./operations.ts"),
    import("../browser/downloads/session-downloads.ts"),
    import("../pause/automation-pause.ts"),
    import("../secrets/typed-secrets.ts"),
  ]);
  // The cache keeps only functions that have run.
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
  new Operations({
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
    stats: { connections: { clients: 0, viewers: 0 }, pages: { count: 0 } },
    telemetry: { present: () => undefined, load: () => none },
    pause: new AutomationPause(() => () => undefined),
    secrets: new TypedSecrets(),
    isShared: false,
    control: {
      isEnding: () => false,
      beginUse: () => () => undefined,
      settle: () => none,
      assign: () => none,
      changeViewport: () => none,
      reloadPolicies: () => none,
      loadTelemetry: () => none,
      loadProfileState: () => none,
      loadContexts: () => none,
    },
  });
  flushCompileCache();
}

async function runPlaywright(option: string, cacheDir: string | undefined): Promise<void> {
  if (cacheDir !== undefined && cacheDir !== "") enableCompileCache(cacheDir);
  const { runBinding, runRepl, runWorker } = await import("../clients/playwright/playwright-programs.ts");
  if (option === "--playwright-worker") runWorker();
  else if (option === "--repl") runRepl();
  else runBinding();
}

async function host(document: string): Promise<void> {
  const { hostProgram } = await import("../programs/program-host.ts");
  hostProgram(document);
}

const playwrightPrograms: ReadonlySet<string> = new Set(["--playwright-worker", "--playwright-binding", "--repl"]);

function run(option: string | undefined, directory: string | undefined): Promise<void> {
  if (option !== undefined && playwrightPrograms.has(option)) return runPlaywright(option, directory);
  if (process.env.SHOAL_PROGRAM !== undefined) return host(process.env.SHOAL_PROGRAM);
  return option === "--fill-cache" && directory !== undefined
    ? fillCache(directory)
    : start(process.env.SHOAL_INSTANCE);
}

run(process.argv[2], process.argv[3]).catch((error: unknown) => {
  process.stderr.write(
    `${JSON.stringify({ level: "error", message: "the instance could not start", error: String(error) })}\n`,
  );
  process.exit(1);
});
