import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createCdpGateway } from "./cdp/gateway.ts";
import type { CdpConnection } from "./cdp/pipe-connection.ts";
import { describeExit, type BrowserExit } from "./chromium/browser.ts";
import type { BrowserLaunch } from "./chromium/launch.ts";
import type { SpawnedChromium } from "./chromium/spawn.ts";
import { relaunchCloseCode, superviseBrowser } from "./chromium/supervisor.ts";
import type { EgressFailures } from "./egress-failures.ts";
import type { EgressForwarder } from "./egress-forwarder.ts";
import type { ErrorPages } from "./pages/error-pages.ts";
import { copyLog, log } from "./log.ts";
import { createSupervisorLogs } from "./logs/supervisor-logs.ts";
import type { InstanceConfig } from "./protocol.ts";
import { trackActivity } from "./session/activity.ts";
import { createAssignments } from "./session/assignments.ts";
import { controlPrefix, createControlChannel } from "./session/control.ts";
import { createEnding } from "./session/ending.ts";
import { createEventFeed } from "./session/event-feed.ts";
import { createParts } from "./session/parts.ts";
import { pathOf, refuse, refuseUpgrade } from "./session/replies.ts";
import { createUpgrades } from "./session/upgrades.ts";
import { createViewportChange } from "./session/viewport-change.ts";

/** What the first file has started before this one was loaded. */
export interface StartedInstance {
  readonly config: InstanceConfig;
  readonly forwarder: EgressForwarder;
  readonly chromium: SpawnedChromium;
  readonly spawn: (launch: BrowserLaunch) => SpawnedChromium;
}

const maxDetailCharacters = 4_000;

/** Serves one session until it ends; the process then exits. */
export function runInstance({ config, forwarder, chromium, spawn }: StartedInstance): void {
  /** Whether the present browser has answered. */
  let served = false;
  const logs = createSupervisorLogs();
  copyLog((line) => {
    logs.add("instance", line);
  });

  const activity = trackActivity({
    onChange(idleSinceMs) {
      feed.send({ type: "activity", idle_since_ms: idleSinceMs });
    },
    onTimeout() {
      if (assignments.savesProfile) void ending.expire();
      else void ending.end({ type: "ending", reason: "timeout" });
    },
  });
  const feed = createEventFeed(() => ({
    type: "state",
    browser: browser.ready ? "ready" : "starting",
    idle_since_ms: activity.idleSinceMs,
    browser_restarts: browser.restarts,
  }));
  const browser = superviseBrowser({
    config,
    first: chromium,
    spawn,
    onLine(line) {
      logs.add("chromium", line);
    },
    onReady() {
      served = true;
      feed.send({ type: "ready" });
    },
    onRelaunch() {
      served = false;
      closeClients(relaunchCloseCode, "the browser is being started in another way: reconnect");
    },
    onRestart(exit) {
      log("warn", "the browser crashed and is started again", exitFields(exit));
      parts.telemetry.present?.browserCrashed(served ? "running" : "startup", exit.pid);
      served = false;
      closeClients(1012, "the browser crashed and is being started again: reconnect");
      feed.send({ type: "browser_restarted", exit_code: exit.code, signal: exit.signal });
    },
    onCrashed(exit) {
      log("error", "the browser crashed again", exitFields(exit));
      parts.telemetry.present?.browserCrashed(served ? "running" : "startup", exit.pid);
      parts.telemetry.present?.browserCrashed("gave_up", undefined);
      closeClients(1011, "browser_crashed");
      const detail = `The browser ended with ${describeExit(exit)}. Its last lines:\n${exit.lastLines}`;
      void ending.end({ type: "ending", reason: "browser_crashed", detail: detail.slice(0, maxDetailCharacters) });
    },
  });
  const gateway = createCdpGateway({
    root: config.root,
    downloads: browser.downloads,
    endpoint: () => browser.endpoint(),
    openContextProxy: (proxy) => forwarder.portOf(proxy),
    onClient() {
      const finish = activity.begin();
      parts.telemetry.present?.cdpClientJoined();
      return (departure) => {
        parts.telemetry.present?.cdpClientLeft(departure);
        finish();
      };
    },
    refuse: refuseUpgrade,
  });
  const parts = createParts({ config, browser, activity, forwarder, logs, display: () => assignments.display() });
  forwarder.onFailure(() => {
    void explainFailure(browser.cdp(), forwarder.failures);
  });
  const assignments = createAssignments({
    config,
    browser,
    activity,
    logs,
    loadTelemetry: parts.telemetry.load,
    onSavesProfile: protectProfile,
    isEnding: () => ending.begun,
  });
  const ending = createEnding({
    activity,
    feed,
    parts,
    closeClients,
    async shutDown() {
      await browser.stop();
      await assignments.display()?.close();
      forwarder.close();
      server.close();
      server.closeAllConnections();
      process.exit(0);
    },
  });
  const control = createControlChannel({
    feed,
    assign: assignments.assign,
    changeViewport: createViewportChange({ browser, assignments, parts, isEnding: () => ending.begun }),
    telemetry(request, response) {
      parts.telemetry.load().then(
        (loaded) => {
          loaded.control(request, response);
        },
        () => {
          response.destroy();
        },
      );
    },
    replay(id, response) {
      const { begun } = parts.operations;
      if (begun === undefined) refuse(response, { status: 404, code: "not_found", message: "There are no recordings." });
      else
        void begun.then(
          (loaded) => {
            loaded.followReplay(id, response);
          },
          () => response.destroy(),
        );
    },
    profile(what, request, response) {
      void profile(what, request, response);
    },
    policies: assignments.readPolicies,
    stop() {
      void ending.end({ type: "ending", reason: "stopped" });
    },
  });

  // The timeouts of node:http are for clients that are not trusted and uploads that are small: here the service is the only client.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0, noDelay: true }, (request, response) => {
    const path = pathOf(request);
    if (path.startsWith(controlPrefix)) {
      control(request, response, path);
      return;
    }
    if (ending.begun) {
      refuse(response, { status: 503, code: "shutting_down", message: "This session is ending." });
      return;
    }
    const finish = activity.begin();
    response.on("close", finish);
    parts.operations.load().then(
      (loaded) => {
        loaded.handle(request, response);
      },
      (error: unknown) => {
        log("error", "the operations could not be loaded", { error: String(error) });
        response.destroy();
      },
    );
  });
  server.on("upgrade", createUpgrades({ gateway, activity, parts, isEnding: () => ending.begun }));
  server.on("error", (error) => {
    log("error", `cannot listen on ${config.listen_path}`, { error: error.message });
    void ending.end({ type: "ending", reason: "stopped", detail: error.message });
  });

  function closeClients(code: number, reason: string | undefined): void {
    gateway.closeAll(code, reason);
    parts.bidi.ifBegun((bidi) => {
      bidi.closeAll(code, reason);
    });
  }

  function protectProfile(): void {
    parts.profileState.load().then(
      (loaded) => {
        loaded.protect();
      },
      (error: unknown) => {
        log("error", "the profile cannot be protected against a crash", { error: String(error) });
      },
    );
  }

  async function profile(what: "save" | "saveAtEnd" | "load", request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (ending.begun && what !== "saveAtEnd") {
      refuse(response, { status: 503, code: "shutting_down", message: "This session is ending." });
      return;
    }
    const finish = activity.begin();
    try {
      const loading = parts.profileState.load();
      if (what === "saveAtEnd") await ending.settle(undefined);
      const loaded = await loading;
      if (what === "load") await loaded.load(request, response);
      else await loaded[what](response);
    } catch (error) {
      log("error", "profiles could not be loaded", { error: String(error) });
      response.destroy();
    } finally {
      finish();
    }
  }

  process.stdin.on("end", () => void ending.end({ type: "ending", reason: "stopped", detail: "the parent is gone" }));
  process.stdin.on("error", () => void ending.end({ type: "ending", reason: "stopped", detail: "the parent is gone" }));
  process.stdin.resume();
  process.on("SIGTERM", () => void ending.end({ type: "ending", reason: "stopped" }));
  // A terminal sends these to the whole group; the service decides what becomes of its sessions.
  // Without its inspector, Node would end at a SIGUSR1.
  for (const signal of ["SIGINT", "SIGHUP", "SIGUSR1"]) process.on(signal, () => undefined);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

  server.listen(config.listen_path, () => {
    process.stdout.write('{"listening":true}\n');
  });

  function exitFields(exit: BrowserExit): Record<string, unknown> {
    return { instance_id: config.instance_id, exit_code: exit.code, signal: exit.signal, last_lines: exit.lastLines };
  }
}

const errorPages = new WeakMap<CdpConnection, ErrorPages>();

/** Has the error page of a connection that failed say why. */
async function explainFailure(browser: Promise<CdpConnection>, failures: EgressFailures): Promise<void> {
  try {
    const [cdp, loaded] = await Promise.all([browser, import("./pages/error-pages.ts")]);
    const pages = errorPages.get(cdp) ?? new loaded.ErrorPages(cdp, failures);
    errorPages.set(cdp, pages);
    pages.connectionFailed();
  } catch {
    // The browser is gone.
  }
}
