import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { Socket } from "node:net";
import { createCdpGateway } from "./cdp/gateway.ts";
import { describeExit, type BrowserExit } from "./chromium/browser.ts";
import type { BrowserLaunch } from "./chromium/launch.ts";
import type { SpawnedChromium } from "./chromium/spawn.ts";
import { relaunchCloseCode, superviseBrowser } from "./chromium/supervisor.ts";
import type { EgressForwarder } from "./egress-forwarder.ts";
import { copyLog, log } from "./log.ts";
import type { LiveView } from "./live-view/live-view.ts";
import { createSupervisorLogs } from "./logs/supervisor-logs.ts";
import type { ProfileState } from "./profile-state/profile-state.ts";
import type { BidiGateway } from "./webdriver/bidi-gateway.ts";
import type { Operations } from "./operations.ts";
import type { ChangeViewport, InstanceEvent, InstanceConfig, ViewportChanged } from "./protocol.ts";
import { trackActivity } from "./session/activity.ts";
import { createAssignments } from "./session/assignments.ts";
import { controlPrefix, createControlChannel } from "./session/control.ts";
import { createEventFeed } from "./session/event-feed.ts";
import { pathOf, refuse, refuseUpgrade, type Refusal } from "./session/replies.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";

/** What the first file has started before this one was loaded. */
export interface StartedInstance {
  readonly config: InstanceConfig;
  readonly forwarder: EgressForwarder;
  readonly chromium: SpawnedChromium;
  readonly spawn: (launch: BrowserLaunch) => SpawnedChromium;
}

type EndingEvent = Extract<InstanceEvent, { type: "ending" }>;

const maxDetailCharacters = 4_000;
/** Time for readers of streams to see their end. */
const closeOperationsTimeoutMs = 500;
/** Time for the service to take what the browser leaves, after the timeout of a session that saves its profile. */
const saveTimeoutMs = 150_000;
/** Time for the recordings to be written and handed to the service. */
const finishReplaysTimeoutMs = 10_000;

/** Serves one session until it ends; the process then exits. */
export function runInstance({ config, forwarder, chromium, spawn }: StartedInstance): void {
  let ending = false;
  let ended = false;
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
      if (assignments.savesProfile) void expire();
      else void end({ type: "ending", reason: "timeout" });
    },
  });
  const feed = createEventFeed(() => ({ type: "state", browser: browser.ready ? "ready" : "starting", idle_since_ms: activity.idleSinceMs, browser_restarts: browser.restarts }));
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
      const reason = "the browser is being started in another way: reconnect";
      served = false;
      gateway.closeAll(relaunchCloseCode, reason);
      closeBidi(relaunchCloseCode, reason);
    },
    onRestart(exit) {
      log("warn", "the browser crashed and is started again", exitFields(exit));
      telemetry?.browserCrashed(served ? "running" : "startup", exit.pid);
      served = false;
      gateway.closeAll(1012, "the browser crashed and is being started again: reconnect");
      closeBidi(1012, "the browser crashed and is being started again: reconnect");
      feed.send({ type: "browser_restarted", exit_code: exit.code, signal: exit.signal });
    },
    onCrashed(exit) {
      log("error", "the browser crashed again", exitFields(exit));
      telemetry?.browserCrashed(served ? "running" : "startup", exit.pid);
      telemetry?.browserCrashed("gave_up", undefined);
      gateway.closeAll(1011, "the browser crashed again: the session ends");
      closeBidi(1011, "the browser crashed again: the session ends");
      const detail = `The browser ended with ${describeExit(exit)}. Its last lines:\n${exit.lastLines}`;
      void end({ type: "ending", reason: "browser_crashed", detail: detail.slice(0, maxDetailCharacters) });
    },
  });
  const gateway = createCdpGateway({
    root: config.root,
    endpoint: () => browser.endpoint(),
    onClient() {
      const finish = activity.begin();
      telemetry?.cdpClientJoined();
      return (departure) => {
        telemetry?.cdpClientLeft(departure);
        browser.restoreDownloads();
        finish();
      };
    },
    refuse: refuseUpgrade,
  });
  const assignments = createAssignments({ config, browser, activity, logs, loadTelemetry, isEnding: () => ending });
  const control = createControlChannel({
    feed,
    assign: assignments.assign,
    changeViewport,
    telemetry(request, response) {
      loadTelemetry().then(
        (loaded) => {
          loaded.control(request, response);
        },
        () => {
          response.destroy();
        },
      );
    },
    replay(id, response) {
      if (operations === undefined) refuse(response, { status: 404, code: "not_found", message: "There are no recordings." });
      else void operations.then((loaded) => { loaded.followReplay(id, response); }, () => response.destroy());
    },
    profile(what, request, response) {
      void profile(what, request, response);
    },
    policies: assignments.readPolicies,
    stop() {
      void end({ type: "ending", reason: "stopped" });
    },
  });

  async function changeViewport({ viewport, force }: ChangeViewport): Promise<Refusal | ViewportChanged> {
    if (ending) return { status: 503, code: "shutting_down", message: "This session is ending." };
    const refusal = assignments.display()?.refusal(viewport);
    if (refusal !== undefined) return refusal;
    const recordings = (await operations)?.recordings;
    const running = (await recordings?.running()) ?? 0;
    if (running > 0 && !force) return { status: 409, code: "conflict", message: "body.viewport: a recording of this session runs. Stop it first, or send force: true: it then ends, and goes on as another one of the new size." };
    const viewers = (await liveView)?.viewers ?? 0;
    if (viewers > 0 && !force) return { status: 409, code: "conflict", message: "body.viewport: somebody watches this session in its live view, which would change under their hands. Wait until they have left, or send force: true." };
    const resize = async () => {
      await assignments.display()?.change(viewport);
      await browser.resize(viewport);
    };
    if (recordings !== undefined) return { replays: await recordings.across(resize) };
    await resize();
    return { replays: [] };
  }

  // Loaded when it is switched on or followed: most sessions do without.
  let telemetry: Telemetry | undefined;
  let loadingTelemetry: Promise<Telemetry> | undefined;
  async function importTelemetry(): Promise<Telemetry> {
    const { createTelemetry } = await import("./telemetry/telemetry.ts");
    telemetry = createTelemetry({ root: config.root, browser, refusedTunnel: (target) => forwarder.refusedTunnel(target) });
    return telemetry;
  }
  function loadTelemetry(): Promise<Telemetry> {
    return (loadingTelemetry ??= importTelemetry());
  }

  // Loaded at the first operation: many sessions are used over CDP alone.
  let operations: Promise<Operations> | undefined;
  async function loadOperations(): Promise<Operations> {
    const { createOperations } = await import("./operations.ts");
    return createOperations({ root: { directory: config.root, home: config.home, spoolDirectory: join(config.session_dir, "tmp") }, config, browser, display: assignments.display, logs, egressPort: forwarder.port, telemetry: { present: () => telemetry, load: loadTelemetry } });
  }

  // The timeouts of node:http are for clients that are not trusted and uploads that are small: here the service is the only client.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0, noDelay: true }, (request, response) => {
    const path = pathOf(request);
    if (path.startsWith(controlPrefix)) {
      control(request, response, path);
      return;
    }
    if (ending) {
      refuse(response, { status: 503, code: "shutting_down", message: "This session is ending." });
      return;
    }
    const finish = activity.begin();
    response.on("close", finish);
    operations ??= loadOperations();
    operations.then(
      (loaded) => {
        loaded.handle(request, response);
      },
      (error: unknown) => {
        log("error", "the operations could not be loaded", { error: String(error) });
        response.destroy();
      },
    );
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // node:http hands over the connection itself, typed more widely than it is.
    if (!(socket instanceof Socket)) {
      socket.destroy();
      return;
    }
    socket.on("error", () => undefined);
    const path = pathOf(request);
    if (ending) refuseUpgrade(request, socket, { status: 503, code: "shutting_down", message: "This instance is ending." });
    else if (path === "/cdp" || path.startsWith("/devtools/")) gateway.upgrade(request, socket, head);
    else if (path.startsWith("/process/")) void attach(request, socket, head, path);
    else if (path === "/webdriver") void joinBidi(request, socket, head);
    else if (path === "/live-view") void joinLiveView(request, socket, head);
    else refuseUpgrade(request, socket, { status: 404, code: "not_found", message: `There is no WebSocket at ${path.slice(0, 200)}.` });
  });

  async function attach(request: IncomingMessage, socket: Socket, head: Buffer, path: string): Promise<void> {
    const finish = activity.begin();
    socket.on("close", finish);
    operations ??= loadOperations();
    try {
      const [loaded, { attachTo }] = await Promise.all([operations, import("./process/attach.ts")]);
      const refusal = attachTo(request, socket, head, { path, processes: loaded.processes });
      if (refusal !== undefined) refuseUpgrade(request, socket, refusal);
    } catch (error) {
      log("error", "a terminal could not be attached to", { error: String(error) });
      socket.destroy();
    }
  }

  // Loaded by its first client.
  let bidi: Promise<BidiGateway> | undefined;
  async function joinBidi(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    try {
      bidi ??= import("./webdriver/bidi-gateway.ts").then(({ createBidiGateway }) =>
        createBidiGateway({
          root: config.root,
          endpoint: () => browser.endpoint(),
          onClient() {
            const finish = activity.begin();
            return () => {
              browser.restoreDownloads();
              finish();
            };
          },
        }),
      );
      const refusal = (await bidi).upgrade(request, socket, head);
      if (refusal !== undefined) refuseUpgrade(request, socket, refusal);
    } catch (error) {
      log("error", "WebDriver BiDi could not be loaded", { error: String(error) });
      socket.destroy();
    }
  }
  function closeBidi(code: number, reason: string): void {
    void bidi?.then((gateway) => {
      gateway.closeAll(code, reason);
    });
  }

  // Loaded by its first viewer.
  let liveView: Promise<LiveView> | undefined;
  async function joinLiveView(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    try {
      liveView ??= import("./live-view/live-view.ts").then(({ createLiveView }) => createLiveView({ browser, onViewer: () => activity.begin(), record: (event) => telemetry?.record(event) }));
      const refusal = (await liveView).upgrade(request, socket, head);
      if (refusal !== undefined) refuseUpgrade(request, socket, refusal);
    } catch (error) {
      log("error", "the live view could not be loaded", { error: String(error) });
      socket.destroy();
    }
  }

  server.on("error", (error) => {
    log("error", `cannot listen on ${config.listen_path}`, { error: error.message });
    void end({ type: "ending", reason: "stopped", detail: error.message });
  });

  async function end(event: EndingEvent): Promise<void> {
    if (ended) return;
    ended = true;
    ending = true;
    log("info", "ending", { reason: event.reason });
    activity.stop();
    // A browser that does not run at all may have crashed twice before anybody follows the events.
    await feed.end(event, event.reason === "browser_crashed");
    await settle(event.reason === "timeout");
    await browser.stop();
    await assignments.display()?.close();
    forwarder.close();
    server.close();
    server.closeAllConnections();
    process.exit(0);
  }

  /** Lets everybody go, and hands over what they have recorded. */
  let settling: Promise<unknown> | undefined;
  function settle(isTimeout: boolean): Promise<unknown> {
    if (settling !== undefined) return settling;
    ending = true;
    activity.stop();
    const reason = isTimeout ? "the session was not used for its timeout and ended" : "the session ended";
    gateway.closeAll(1001, reason);
    closeBidi(1001, reason);
    void liveView?.then((loaded) => {
      loaded.closeAll(1001, reason);
    });
    settling = Promise.all([telemetry?.close(), closeOperations(), finishReplays()]);
    return settling;
  }

  /** The service is to take what the browser leaves, before it ends the instance. */
  async function expire(): Promise<void> {
    if (ending) return;
    log("info", "expired", {});
    void settle(true);
    feed.send({ type: "expired" });
    const timeout = Promise.withResolvers<undefined>();
    setTimeout(timeout.resolve, saveTimeoutMs, undefined);
    await timeout.promise;
    await end({ type: "ending", reason: "timeout" });
  }

  // Loaded when a profile is first saved or loaded: most sessions have none.
  let profileState: Promise<ProfileState> | undefined;
  async function profile(what: "save" | "saveAtEnd" | "load", request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (ending && what !== "saveAtEnd") {
      refuse(response, { status: 503, code: "shutting_down", message: "This session is ending." });
      return;
    }
    const finish = activity.begin();
    try {
      profileState ??= import("./profile-state/profile-state.ts").then(({ createProfileState }) => createProfileState({ config, browser }));
      if (what === "saveAtEnd") await settle(false);
      const loaded = await profileState;
      if (what === "load") await loaded.load(request, response);
      else await loaded[what](response);
    } catch (error) {
      log("error", "profiles could not be loaded", { error: String(error) });
      response.destroy();
    } finally {
      finish();
    }
  }

  async function finishReplays(): Promise<void> {
    const timeout = Promise.withResolvers<undefined>();
    setTimeout(timeout.resolve, finishReplaysTimeoutMs, undefined);
    const finished = operations?.then((loaded) => loaded.finishReplays()).catch(() => undefined);
    if (finished !== undefined) await Promise.race([finished, timeout.promise]);
  }

  async function closeOperations(): Promise<void> {
    const timeout = Promise.withResolvers<undefined>();
    setTimeout(timeout.resolve, closeOperationsTimeoutMs, undefined);
    const closed = operations?.then((loaded) => loaded.close()).catch(() => undefined);
    if (closed !== undefined) await Promise.race([closed, timeout.promise]);
  }

  process.stdin.on("end", () => void end({ type: "ending", reason: "stopped", detail: "the parent is gone" }));
  process.stdin.on("error", () => void end({ type: "ending", reason: "stopped", detail: "the parent is gone" }));
  process.stdin.resume();
  process.on("SIGTERM", () => void end({ type: "ending", reason: "stopped" }));
  // A terminal sends these to the whole group; the service decides what becomes of its sessions.
  for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

  server.listen(config.listen_path, () => {
    process.stdout.write('{"listening":true}\n');
  });

  function exitFields(exit: BrowserExit): Record<string, unknown> {
    return { instance_id: config.instance_id, exit_code: exit.code, signal: exit.signal, last_lines: exit.lastLines };
  }
}

