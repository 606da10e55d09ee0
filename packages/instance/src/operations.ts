import {
  browserComputer,
  browserFs,
  browserLogs,
  browserProcess,
  browserReplays,
  curl,
  executePlaywright,
  loadExtensions,
  streamTelemetry,
  type contract,
} from "@shoal/contract";
import type { HandlersOrNotYet } from "@shoal/router";
import { createHttpRouter, requestIdOf } from "@shoal/router/http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { serveJsonEndpoint } from "./cdp/json-endpoints.ts";
import { curlArea } from "./curl/handlers.ts";
import { sessionComputer } from "./computer/handlers.ts";
import { extensionHandlers } from "./extensions/handlers.ts";
import { fileSystemHandlers } from "./fs/handlers.ts";
import type { BrowserSupervisor } from "./chromium/supervisor.ts";
import { authorityPath } from "./display/authority-path.ts";
import type { SessionDisplay } from "./display/session-display.ts";
import type { SessionRoot } from "./fs/paths.ts";
import { watchHandlers } from "./fs/watch/watches.ts";
import { createIdempotencyMemory } from "./idempotency.ts";
import { log } from "./log.ts";
import { logHandlers } from "./logs/handlers.ts";
import type { SupervisorLogs } from "./logs/supervisor-logs.ts";
import type { EgressForwarder } from "./egress-forwarder.ts";
import type { InstanceConfig } from "./protocol.ts";
import type { InstancePlane, NotImplemented } from "./not-implemented.ts";
import { findVisiblePage } from "./pages/visible-page.ts";
import { playwrightHandlers } from "./playwright/handlers.ts";
import { replayArea, type ReplayArea } from "./replays/handlers.ts";
import { commandEnvironment } from "./process/command.ts";
import { sessionProcesses, type SessionProcesses } from "./process/handlers.ts";
import { telemetryHandlers } from "./telemetry/handlers.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";
import { unknownFieldsHeader } from "./unknown-fields-header.ts";
import { rememberProcessGroups } from "./process/process-groups.ts";

/** The operations of the instance's plane. */
export interface Operations {
  /** Answers a request, whose path is without `/browsers/{id}`; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** The session's processes, for what is no operation: attaching to a terminal. */
  readonly processes: Pick<SessionProcesses, "find">;
  /** Answers the service with a recording, as its file grows. */
  followReplay(id: string, response: ServerResponse): void;
  /** The recordings that go on, for a change of the viewport. */
  readonly recordings: Pick<ReplayArea, "running" | "across">;
  /** Ends the recordings; resolves when whoever follows them has their files. */
  finishReplays(): Promise<void>;
  /** Ends what goes on until the session does, so that its readers see an end and not a failure. */
  close(): Promise<void>;
}

/** What operations work on. */
export interface OperationParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly logs: SupervisorLogs;
  /** The way into the network; absent where nothing is ever run. */
  readonly egress?: Pick<EgressForwarder, "port" | "browserPort" | "failures">;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "downloads" | "endpoint" | "launch" | "onBrowser" | "relaunch">;
  /** The screen of a browser with a window; `undefined` of a headless one. */
  readonly display?: () => SessionDisplay | undefined;
  readonly telemetry: {
    /** Absent until it was first loaded. */
    present(): Telemetry | undefined;
    load(): Promise<Telemetry>;
  };
}

export function createOperations({ root, config, egress, logs, browser, display = () => undefined, telemetry }: OperationParts): Operations {
  const router = createHttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    unknownFieldsOf: ({ headers }) => (headers[unknownFieldsHeader] === "refuse" ? "refuse" : "ignore"),
    onRequest(endpoint, requestId, response) {
      telemetry.present()?.operationBegan(endpoint.operationId, requestId, response);
    },
    onError(error, requestId) {
      log("error", "an operation failed", { request_id: requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    },
  });
  const memory = createIdempotencyMemory();
  const watches = watchHandlers(root);
  const logStreams = logHandlers(root, logs);
  const proxyUrl = egress === undefined ? undefined : `http://127.0.0.1:${String(egress.port)}`;
  const shownOn = display();
  // Programs beside the browser may show themselves, or work its windows.
  const surroundings = { ...process.env, ...(shownOn && { DISPLAY: shownOn.name, XAUTHORITY: authorityPath(config.session_dir) }) };
  const processes = sessionProcesses({ root, ...commandEnvironment(root, surroundings, proxyUrl) }, { onStarted: rememberProcessGroups(config) });
  const playwright = playwrightHandlers({
    root,
    config,
    browser,
    failures: egress?.failures,
    visibleTarget: async () => findVisiblePage(await browser.cdp()),
  });
  const requests = curlArea({ config, egress, browser });
  const computer = sessionComputer(browser, display);
  const replays = replayArea({ config, egressPort: egress?.browserPort ?? 0, browser, display });
  const handlers = {
    ...fileSystemHandlers(root),
    ...extensionHandlers({ root, config, browser }),
    watchEvents: watches.watchEvents,
    stopWatch: watches.stopWatch,
    // The other POSTs carry files, which are not remembered.
    startWatch: memory.wrap(browserFs.startWatch, watches.startWatch),
    ...telemetryHandlers(() => telemetry.load()),
    ...processes.handlers,
    streamBrowserLogs: logStreams.streamBrowserLogs,
    execProcess: memory.wrap(
      browserProcess.execProcess,
      processes.handlers.execProcess,
      (result) => result.stdout_b64.length + result.stderr_b64.length,
    ),
    spawnProcess: memory.wrap(browserProcess.spawnProcess, processes.handlers.spawnProcess),
    writeProcessStdin: memory.wrap(browserProcess.writeProcessStdin, processes.handlers.writeProcessStdin),
    killProcess: memory.wrap(browserProcess.killProcess, processes.handlers.killProcess),
    curl: memory.wrap(curl, requests.handlers.curl, (result) => result.body.length),
    executePlaywright: memory.wrap(executePlaywright, playwright.handlers.executePlaywright, (result) => JSON.stringify(result).length),
    ...replays.handlers,
    startReplay: memory.wrap(browserReplays.startReplay, replays.handlers.startReplay),
    ...computer.handlers,
    clickMouse: memory.wrap(browserComputer.clickMouse, computer.handlers.clickMouse),
    moveMouse: memory.wrap(browserComputer.moveMouse, computer.handlers.moveMouse),
    typeText: memory.wrap(browserComputer.typeText, computer.handlers.typeText),
    pressKey: memory.wrap(browserComputer.pressKey, computer.handlers.pressKey),
    scroll: memory.wrap(browserComputer.scroll, computer.handlers.scroll),
    dragMouse: memory.wrap(browserComputer.dragMouse, computer.handlers.dragMouse),
    batchComputerActions: memory.wrap(browserComputer.batchComputerActions, computer.handlers.batchComputerActions),
    writeClipboard: memory.wrap(browserComputer.writeClipboard, computer.handlers.writeClipboard),
  } satisfies HandlersOrNotYet<InstancePlane<typeof contract>, NotImplemented>;
  // Area by area: the whole contract would cost every session's start 8 ms of CPU.
  // The service keeps the recordings, and what is noted of them.
  const { markReplay: _markReplay, ...recordings } = browserReplays;
  const endpoints = {
    ...browserFs,
    ...browserComputer,
    ...browserLogs,
    ...browserProcess,
    ...recordings,
    curl,
    executePlaywright,
    loadExtensions,
    streamTelemetry,
  } satisfies Pick<InstancePlane<typeof contract>, keyof typeof handlers>;
  router.mountAll(endpoints, handlers);
  return {
    handle(request, response) {
      if (request.url?.startsWith("/curl/raw?") === true) {
        telemetry.present()?.operationBegan(curl.operationId, requestIdOf(request.headers), response);
        requests.raw(request, response);
        return;
      }
      if (request.url?.startsWith("/json") === true)
        void serveJsonEndpoint({ endpoint: () => browser.endpoint(), isHelper: requests.isHelper }, request, response);
      else router.handle(request, response);
    },
    processes,
    followReplay: replays.follow,
    recordings: replays,
    finishReplays: replays.close,
    async close() {
      computer.close();
      logStreams.close();
      await Promise.all([playwright.close(), requests.close(), watches.close(), processes.close()]);
    },
  };
}
