import { curl, type contract } from "@shoal/contract";
import { IdempotencyMemory, type HandlersOrNotYet } from "@shoal/router";
import { HttpRouter, requestIdOf } from "@shoal/router/http";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { instanceControl } from "../protocol/endpoints.ts";
import { controlHandlers, type ControlTargets } from "./control-handlers.ts";
import { serveJsonEndpoint } from "../clients/cdp/json-endpoints.ts";
import { curlArea } from "../operations/curl/handlers.ts";
import { sessionComputer } from "../operations/computer/handlers.ts";
import { SessionExtensions } from "../operations/extensions/handlers.ts";
import { downloadHandlers } from "../operations/downloads/handlers.ts";
import { pageArea } from "../operations/sign-in/handlers.ts";
import { pagesArea } from "../operations/pages/handlers.ts";
import { fileSystemHandlers } from "../operations/fs/handlers.ts";
import type { BrowserSupervisor } from "../browser/chromium/supervisor.ts";
import { authorityPath } from "../system/authority-path.ts";
import type { SessionDisplay } from "../browser/display/session-display.ts";
import type { SessionRoot } from "../operations/fs/paths.ts";
import { watchHandlers } from "../operations/fs/watch/watches.ts";
import { log } from "../system/log.ts";
import { logHandlers } from "../operations/logs/handlers.ts";
import { withSupervisorFiles } from "../operations/logs/supervisor-files.ts";
import type { SupervisorLogs } from "../operations/logs/supervisor-logs.ts";
import type { EgressForwarder } from "../egress/forwarder.ts";
import type { InstanceConfig } from "../protocol/protocol.ts";
import { sessionEndpoints } from "../protocol/session-endpoints.ts";
import type { InstancePlane, NotImplemented } from "../protocol/not-implemented.ts";
import { type AutomationPause, handoffRefusal } from "../pause/automation-pause.ts";
import { shareable, sharedRefusal } from "./further-sessions/shared-operations.ts";
import { pausable, replayUntilHandoff } from "./pausable-operations.ts";
import { withoutSecrets } from "../secrets/answers-without-secrets.ts";
import type { TypedSecrets } from "../secrets/typed-secrets.ts";
import { isPassive } from "../http/passive-requests.ts";
import { refuse } from "../http/replies.ts";
import { findVisiblePage } from "../browser/pages/visible-page.ts";
import { playwrightHandlers } from "../operations/playwright/handlers.ts";
import type { PersonActs } from "../operations/pages/person/person-acts.ts";
import { isUrlPattern } from "../operations/pages/tools/url-pattern.ts";
import { type ReplArea, replHandlers } from "../operations/repl/handlers.ts";
import { replayArea, type ReplayArea } from "../operations/replays/handlers.ts";
import { commandEnvironment, type CommandSurroundings } from "../operations/process/command.ts";
import { sessionProcesses, type SessionProcesses } from "../operations/process/handlers.ts";
import { telemetryHandlers } from "../operations/telemetry/handlers.ts";
import { sessionStats, type StatsParts } from "../operations/process/session-stats.ts";
import type { Telemetry } from "../operations/telemetry/telemetry.ts";
import { unknownFieldsHeader } from "../protocol/unknown-fields-header.ts";
import { rememberProcessGroups } from "../operations/process/tracking/process-groups.ts";

export interface OperationParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly logs: SupervisorLogs;
  readonly egress?: Pick<EgressForwarder, "port" | "browserPort" | "failures">;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "downloads" | "endpoint" | "launch" | "onBrowser" | "relaunch">;
  readonly display?: () => SessionDisplay | undefined;
  readonly stats: Pick<StatsParts, "connections" | "pages">;
  readonly telemetry: {
    present(): Telemetry | undefined;
    load(): Promise<Telemetry>;
  };
  readonly pause: AutomationPause;
  readonly secrets: TypedSecrets;
  /** Whether other sessions share the browser. */
  readonly isShared: boolean;
  readonly control: ControlTargets;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

export class Operations {
  readonly #parts: OperationParts;
  readonly #areas: Areas;
  readonly #serve: RequestListener;
  readonly #serveControl: RequestListener;
  readonly #replaysBeingRead = new Set<Promise<unknown>>();
  readonly #telemetryBeingRead = new Set<Promise<unknown>>();

  constructor(parts: OperationParts) {
    this.#parts = parts;
    this.#areas = openAreas(parts);
    this.#serve = operationRouter(this.#areas, parts);
    this.#serveControl = this.#controlRouter();
  }

  /** For attaching to terminals, which is not an operation. */
  get processes(): Pick<SessionProcesses, "find" | "running"> {
    return this.#areas.processes;
  }

  get recordings(): Pick<ReplayArea, "running" | "across"> {
    return this.#areas.replays;
  }

  /** Remembers what persons do in live views. */
  personActs(): Promise<PersonActs> {
    return this.#areas.pages.personActs();
  }

  /** Whether pages may contain secrets that the service or a person typed. */
  get mayShowSecrets(): boolean {
    return this.#areas.frontPage.mayShowSecrets();
  }

  /** Answers a request whose path lacks `/browsers/{id}`; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const { browser, pause, telemetry } = this.#parts;
    const { requests } = this.#areas;
    if (request.url?.startsWith("/curl/raw?") === true) {
      telemetry.present()?.operationBegan(curl, requestIdOf(request.headers), response);
      const refusal = this.#parts.isShared ? sharedRefusal(curl) : undefined;
      if (refusal !== undefined) refuse(response, refusal);
      else if (pause.isActive) refuse(response, handoffRefusal);
      else requests.raw(request, response);
      return;
    }
    if (request.url?.startsWith("/json") === true)
      void serveJsonEndpoint(
        { endpoint: () => browser.endpoint(), isHelper: requests.isHelper, pause },
        request,
        response,
      );
    else this.#serve(request, response);
  }

  control(request: IncomingMessage, response: ServerResponse): void {
    this.#serveControl(request, response);
  }

  /** Ends the processes of callers' code. In a copy they would have the random generators of their originals. */
  endCode(reason: string): void {
    this.#areas.repl.endProcess(reason);
    this.#areas.playwright.endProcesses();
  }

  async finishReplays(): Promise<void> {
    await this.#areas.replays.close();
    await Promise.allSettled(this.#replaysBeingRead);
  }

  /** Resolves when the service has read all telemetry. */
  async finishTelemetry(): Promise<void> {
    await Promise.allSettled(this.#telemetryBeingRead);
  }

  /** Ends streams cleanly, so that readers see an end and not a failure. */
  async close(): Promise<void> {
    const { computer, downloads, frontPage, logStreams, pages, playwright, processes, repl, requests, watches } =
      this.#areas;
    computer.close();
    repl.close();
    downloads.close();
    logStreams.close();
    await Promise.all([
      frontPage.close(),
      pages.close(),
      playwright.close(),
      requests.close(),
      watches.close(),
      processes.close(),
    ]);
  }

  #controlRouter(): RequestListener {
    const { followReplay, followTelemetry } = instanceControl;
    const router = new HttpRouter({
      context: () => undefined,
      unknownFields: "refuse",
      onRequest: (endpoint, _requestId, response) => {
        if (endpoint !== followReplay && endpoint !== followTelemetry) return;
        const reads = endpoint === followReplay ? this.#replaysBeingRead : this.#telemetryBeingRead;
        const closed = once(response, "close").finally(() => reads.delete(closed));
        reads.add(closed);
      },
      onError: failureLog(this.#parts.secrets),
    });
    const { assign: _assign, followEvents: _follow, reportRest: _report, stop: _stop, ...routed } = instanceControl;
    router.mountAll(routed, controlHandlers(this.#parts.control, { ...this.#areas, pause: this.#parts.pause }));
    return router.handle;
  }
}

type Areas = ReturnType<typeof openAreas>;

function openAreas(parts: OperationParts) {
  const { root, config, egress, logs, browser, display = () => undefined, telemetry } = parts;
  const files = fileSystemHandlers(root);
  const frontPage = pageArea(browser, parts.secrets);
  const pages = pagesArea({
    browser,
    root,
    failures: egress?.failures,
    secrets: parts.secrets,
    hidesContent: () => frontPage.mayShowSecrets(),
    customTools: { list: () => repl.customTools.list(), invoke: (...call) => repl.customTools.invoke(...call) },
    onAct: (event) => telemetry.present()?.record(event),
    takesOutlines: () => telemetry.present()?.takesOutlines === true,
    beforeClose: (closing) => telemetry.present()?.pagesClose(closing),
  });
  const repl: ReplArea = replHandlers({
    root,
    config,
    browser,
    environment: () => surroundingsOf(parts).env,
    visibleTarget: async () => findVisiblePage(await browser.cdp()),
    // Timers of code go on during a handoff.
    webMcp: {
      list: (signal) => pages.webMcp.list(signal),
      invoke: (call, signal) => replayUntilHandoff(parts.pause, signal, (until) => pages.webMcp.invoke(call, until)),
    },
    isUrlPattern,
  });
  return {
    // The log of a shared browser is about all its sessions.
    files: parts.isShared ? files : { ...files, readFile: withSupervisorFiles(files.readFile, logs) },
    extensions: new SessionExtensions({ root, config, browser }),
    frontPage,
    pages,
    watches: watchHandlers(root),
    logStreams: logHandlers(root, logs),
    stats: sessionStats({ ...parts.stats, hasOwnProcesses: root.directory === "/" }),
    processes: sessionProcesses(surroundingsOf(parts), { onStarted: rememberProcessGroups(config) }),
    playwright: playwrightHandlers({
      root,
      config,
      browser,
      failures: egress?.failures,
      visibleTarget: async () => findVisiblePage(await browser.cdp()),
    }),
    repl,
    requests: curlArea({ config, egress, browser }),
    computer: sessionComputer(browser, display),
    downloads: downloadArea(root, browser),
    replays: replayArea({ config, egressPort: egress?.browserPort ?? 0, browser, display }),
  };
}

function downloadArea(root: SessionRoot, { downloads }: OperationParts["browser"]) {
  const closing = new AbortController();
  return {
    handlers: downloadHandlers(root, downloads.list, closing.signal),
    close: () => {
      closing.abort();
    },
  };
}

/** Programs of the session can open windows, and control those of the browser. */
function surroundingsOf({ root, config, egress, display }: OperationParts): CommandSurroundings {
  const proxyUrl = egress === undefined ? undefined : `http://127.0.0.1:${String(egress.port)}`;
  const { env, fixedEnv } = commandEnvironment(root, process.env, proxyUrl);
  return {
    root,
    fixedEnv,
    // Read for each command: the screen may open later.
    get env() {
      const shownOn = display?.();
      if (shownOn === undefined) return env;
      return { ...env, DISPLAY: shownOn.name, XAUTHORITY: authorityPath(config.session_dir) };
    },
  };
}

function operationRouter(
  areas: Areas,
  { isShared, pause, secrets, telemetry }: Pick<OperationParts, "isShared" | "pause" | "secrets" | "telemetry">,
): RequestListener {
  const router = new HttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    idempotency: new IdempotencyMemory<undefined>(),
    unknownFieldsOf: ({ headers }) => (headers[unknownFieldsHeader] === "refuse" ? "refuse" : "ignore"),
    onRequest(endpoint, requestId, response) {
      if (!isPassive(response.req)) telemetry.present()?.operationBegan(endpoint, requestId, response);
    },
    onError: failureLog(secrets),
  });
  const { watchEvents, stopWatch, startWatch } = areas.watches;
  const handlers = {
    ...areas.files,
    ...areas.extensions.handlers,
    watchEvents,
    stopWatch,
    startWatch,
    ...telemetryHandlers(() => telemetry.load()),
    ...areas.processes.handlers,
    streamBrowserLogs: areas.logStreams.streamBrowserLogs,
    ...areas.requests.handlers,
    ...areas.playwright.handlers,
    ...areas.repl.handlers,
    ...areas.replays.handlers,
    ...areas.downloads.handlers,
    ...areas.computer.handlers,
    ...areas.pages.handlers,
    getBrowserStats: areas.stats,
  } satisfies HandlersOrNotYet<InstancePlane<typeof contract>, NotImplemented>;
  const possible = isShared ? shareable(sessionEndpoints, handlers) : handlers;
  router.mountAll(sessionEndpoints, withoutSecrets(pausable(sessionEndpoints, possible, pause), secrets));
  return router.handle;
}

function failureLog({ inText }: TypedSecrets) {
  return (error: unknown, requestId: string): void => {
    log("error", "an operation failed", {
      request_id: requestId,
      error: inText(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
  };
}
