import { errorOf, messageOf } from "@shoal/primitives";
import { createServer, type Server } from "node:http";
import { CdpGateway } from "../clients/cdp/gateway.ts";
import { CarriedCookies } from "../browser/profile-state/carried-cookies.ts";
import { describeExit, type BrowserExit } from "../browser/chromium/browser.ts";
import { type BrowserLaunch, fullChromium } from "../browser/chromium/launch.ts";
import type { SpawnedChromium } from "../browser/chromium/spawn.ts";
import { type BrowserSupervisor, relaunchCloseCode, superviseBrowser } from "../browser/chromium/supervisor.ts";
import type { EgressForwarder } from "../egress/forwarder.ts";
import { OpenPages } from "../browser/pages/open-pages.ts";
import { copyLog, log } from "../system/log.ts";
import { createSupervisorLogs, type SupervisorLogs } from "../operations/logs/supervisor-logs.ts";
import type { InstanceConfig } from "../protocol/protocol.ts";
import { AutomationPause } from "../pause/automation-pause.ts";
import type { RemoteDoor } from "../doors/remote-door.ts";
import { openRemoteDoor } from "../doors/open-remote-door.ts";
import { type Activity, reportRest, trackActivity } from "./activity.ts";
import { Assignments } from "./assignments.ts";
import { controlPrefix, createControl } from "./control.ts";
import { createEnding, type Ending } from "./ending.ts";
import { explainFailure } from "../browser/pages/explain-failure.ts";
import { createEventFeed, type EventFeed } from "./event-feed.ts";
import { lazyPart } from "./lazy-part.ts";
import { closeClientsOf, type Connections, counted, createParts, type Parts } from "./parts.ts";
import { pathOf, refuseUpgrade } from "../http/replies.ts";
import type { ProgramParts, SessionProgram } from "./further-sessions/program-parts.ts";
import { pageUrlOf } from "../secrets/page-url.ts";
import { createRequests, createUpgrades } from "./traffic.ts";
import { createViewportChange } from "./viewport-change.ts";

/** Parts that start.ts starts before it loads this file. */
export interface StartedInstance {
  readonly config: InstanceConfig;
  readonly forwarder: EgressForwarder;
  readonly chromium: SpawnedChromium;
  readonly spawn: (launch: BrowserLaunch) => SpawnedChromium;
}

const maxDetailCharacters = 4_000;

export function runInstance({ chromium, config, forwarder, spawn }: StartedInstance): void {
  const program = new InstanceProgram({
    config,
    forwarder,
    superviseBrowser: (events) => superviseBrowser({ ...events, config, first: chromium, spawn }),
    isShared: false,
    onListening: () => {
      process.stdout.write('{"listening":true}\n');
    },
    onShutDown: () => {
      process.exit(0);
    },
  });
  program.obeyParent();
  program.listen();
}

/** Serves one session: alone, or next to others that share its browser. */
class InstanceProgram implements SessionProgram {
  readonly #started: ProgramParts;
  readonly #config: InstanceConfig;
  readonly #forwarder: EgressForwarder;
  readonly #logs: SupervisorLogs = createSupervisorLogs();
  readonly #activity: Activity;
  readonly #pause: AutomationPause;
  readonly #feed: EventFeed;
  readonly #connections: Connections = { clients: 0, viewers: 0 };
  readonly #pages = new OpenPages((address) => {
    this.#feed.send({ type: "page", ...pageUrlOf(address, this.#parts.secrets) });
  });
  readonly #browser: BrowserSupervisor;
  readonly #gateway: CdpGateway;
  readonly #parts: Parts;
  readonly #assignments: Assignments;
  readonly #ending: Ending;
  readonly #server: Server;
  readonly #contexts = lazyPart(async () => {
    const { SharedContexts } = await import("./further-sessions/shared-contexts.ts");
    return new SharedContexts({
      config: this.#config,
      browser: this.#browser,
      createProgram: (parts) => new InstanceProgram(parts),
    });
  });
  #door: RemoteDoor | undefined;
  #served = false;

  constructor(started: ProgramParts) {
    this.#started = started;
    this.#config = started.config;
    this.#forwarder = started.forwarder;
    // The log of a shared process is about all its sessions.
    if (!started.isShared)
      copyLog((line) => {
        this.#logs.add("instance", line);
      });
    this.#activity = this.#trackActivity();
    this.#pause = new AutomationPause(() => this.#activity.begin());
    this.#feed = createEventFeed(() => ({
      type: "state",
      browser: this.#browser.ready ? "ready" : "starting",
      idle_since_ms: this.#activity.idleSinceMs,
      browser_restarts: this.#browser.restarts,
      ...pageUrlOf(this.#pages.address, this.#parts.secrets),
    }));
    this.#browser = this.#superviseBrowser(started);
    this.#browser.keepState(new CarriedCookies());
    this.#gateway = this.#openGateway();
    this.#parts = this.#openParts();
    this.#forwarder.onFailure(() => {
      void explainFailure(this.#browser.cdp(), this.#forwarder.failures);
    });
    this.#assignments = new Assignments({
      config: this.#config,
      browser: this.#browser,
      activity: this.#activity,
      logs: this.#logs,
      loadTelemetry: this.#parts.telemetry.load,
      onSavesProfile: () => {
        void this.#protectProfile();
      },
      isEnding: () => this.#ending.begun,
    });
    this.#ending = createEnding({
      activity: this.#activity,
      feed: this.#feed,
      parts: this.#parts,
      closeClients: (code, reason) => {
        this.#closeClients(code, reason);
      },
      shutDown: () => this.#shutDown(),
    });
    this.#server = this.#openServer();
  }

  obeyParent(): void {
    const onGone = () => {
      this.#stop("the parent is gone");
    };
    // A service on another machine is not the parent.
    if (this.#config.remote === undefined) {
      process.stdin.on("end", onGone);
      process.stdin.on("error", onGone);
      process.stdin.resume();
    }
    process.on("SIGTERM", () => {
      this.#stop();
    });
    // A terminal signals the whole process group, but the service decides when sessions end. SIGUSR1 would kill Node.
    for (const signal of ["SIGINT", "SIGHUP", "SIGUSR1"]) process.on(signal, () => undefined);
    process.stderr.on("error", () => undefined);
    // With `remote`, standard output may carry connections.
    if (this.#config.remote === undefined) process.stdout.on("error", () => undefined);
  }

  listen(): void {
    const { listen_for_all: forAll = false, listen_path: path, remote } = this.#config;
    if (remote !== undefined) {
      this.#openRemoteDoor(remote);
      return;
    }
    this.#server.listen({ path, readableAll: forAll, writableAll: forAll }, () => {
      this.#started.onListening();
    });
  }

  end(): void {
    this.#stop();
  }

  #openRemoteDoor(remote: NonNullable<InstanceConfig["remote"]>): void {
    openRemoteDoor(this.#config, remote, {
      onConnection: (socket) => this.#server.emit("connection", socket),
      onError: (error) => this.#server.emit("error", error),
      onAbandoned: () => {
        this.#stop("the service is gone");
      },
      onReborn: () => {
        this.#beginAgain(remote);
      },
    }).then(
      (door) => {
        this.#door = door;
      },
      (error: unknown) => {
        this.#server.emit("error", errorOf(error));
      },
    );
  }

  /** This program is a copy, for another session. */
  #beginAgain(remote: NonNullable<InstanceConfig["remote"]>): void {
    this.#assignments.forget();
    this.#activity.stop();
    this.#parts.telemetry.present?.restart();
    void this.#parts.operations.begun?.then((operations) => {
      operations.endCode("The session was forked, and a fork has no copy of the process.");
    });
    this.#openRemoteDoor(remote);
  }

  #trackActivity(): Activity {
    return trackActivity({
      onChange: (idleSinceMs) => {
        this.#feed.send({ type: "activity", idle_since_ms: idleSinceMs });
      },
      onTimeout: () => {
        if (this.#assignments.savesProfile) void this.#ending.expire();
        else void this.#ending.end({ type: "ending", reason: "timeout" });
      },
    });
  }

  #superviseBrowser({ superviseBrowser: supervise }: ProgramParts): BrowserSupervisor {
    return supervise({
      onLine: (line) => {
        this.#logs.add("chromium", line);
      },
      onReady: () => {
        this.#served = true;
        this.#feed.send({ type: "ready" });
      },
      onRelaunch: () => {
        this.#served = false;
        this.#closeClients(relaunchCloseCode, "the browser is being started in another way: reconnect");
      },
      onDownload: (event) => {
        this.#feed.send(event);
      },
      pages: this.#pages,
      onClosed: (exit) => {
        this.#onClosed(exit);
      },
      onRestart: (exit) => {
        this.#onRestart(exit);
      },
      onCrashed: (exit) => {
        this.#onCrashed(exit);
      },
    });
  }

  /** The last tab was closed, or the window. */
  #onClosed(exit: BrowserExit): void {
    log("info", "the browser was closed and is started again", this.#exitFields(exit));
    this.#served = false;
    this.#closeClients(1012, "the browser was closed and is being started again: reconnect");
    this.#feed.send({ type: "browser_restarted", exit_code: exit.code, signal: exit.signal });
  }

  #onRestart(exit: BrowserExit): void {
    log("warn", "the browser crashed and is started again", this.#exitFields(exit));
    this.#parts.telemetry.present?.browserCrashed(this.#served ? "running" : "startup", exit.pid);
    this.#served = false;
    this.#closeClients(1012, "the browser crashed and is being started again: reconnect");
    this.#feed.send({ type: "browser_restarted", exit_code: exit.code, signal: exit.signal });
  }

  #onCrashed(exit: BrowserExit): void {
    log("error", "the browser crashed again", this.#exitFields(exit));
    this.#parts.telemetry.present?.browserCrashed(this.#served ? "running" : "startup", exit.pid);
    this.#parts.telemetry.present?.browserCrashed("gave_up", undefined);
    this.#closeClients(1011, "browser_crashed");
    const detail = `The browser ended with ${describeExit(exit)}. Its last lines:\n${exit.lastLines}`;
    void this.#ending.end({ type: "ending", reason: "browser_crashed", detail: detail.slice(0, maxDetailCharacters) });
  }

  #exitFields(exit: BrowserExit): Record<string, unknown> {
    const { instance_id } = this.#config;
    return { instance_id, exit_code: exit.code, signal: exit.signal, last_lines: exit.lastLines };
  }

  #openGateway(): CdpGateway {
    return new CdpGateway({
      root: this.#config.root,
      downloads: this.#browser.downloads,
      endpoint: () => this.#browser.endpoint(),
      openContextProxy: (proxy) => this.#forwarder.portOf(proxy),
      ...(!this.#started.isShared && {
        full: {
          browser: this.#browser,
          program: fullChromium(this.#config),
          isBusy: () => this.#parts.bidi.present?.hasClients === true || this.#parts.driver.present?.isRunning === true,
        },
      }),
      onClient: () => {
        const finish = counted(this.#connections, "clients", this.#activity.begin());
        return [this.#parts.telemetry.present?.cdpClientJoined(), { left: finish }];
      },
      pause: this.#pause,
      refuse: refuseUpgrade,
    });
  }

  #openParts(): Parts {
    return createParts({
      config: this.#config,
      browser: this.#browser,
      activity: this.#activity,
      forwarder: this.#forwarder,
      gateway: this.#gateway,
      logs: this.#logs,
      display: () => this.#assignments.display,
      pause: this.#pause,
      connections: this.#connections,
      pages: this.#pages,
      isShared: this.#started.isShared,
      control: {
        isEnding: () => this.#ending.begun,
        beginUse: () => this.#activity.begin(),
        settle: () => this.#ending.settle(undefined),
        assign: (request, files) => this.#assignments.assign(request, files),
        changeViewport: createViewportChange({
          browser: this.#browser,
          display: () => this.#assignments.display,
          parts: () => this.#parts,
          isEnding: () => this.#ending.begun,
        }),
        loadContexts: this.#contexts.load,
        reloadPolicies: (revision) => this.#assignments.readPolicies(revision),
      },
    });
  }

  #openServer(): Server {
    const control = createControl({
      feed: this.#feed,
      assign: (request) => this.#assignments.assign(request),
      stop: () => {
        this.#stop();
      },
      reportRest: (question) =>
        reportRest(question, {
          activity: this.#activity,
          browser: this.#browser,
          gateway: this.#gateway,
          operations: this.#parts.operations.begun,
          telemetry: this.#parts.telemetry.present,
          isEnding: () => this.#ending.begun,
        }),
      loadRouter: async () => {
        const operations = await this.#parts.operations.load();
        return (request, response) => {
          operations.control(request, response);
        };
      },
    });
    // The default timeouts protect against untrusted clients; here the service is the only client, and uploads are long.
    const isEnding = () => this.#ending.begun;
    const { isShared } = this.#started;
    const serve = createRequests({ activity: this.#activity, parts: this.#parts, isShared, isEnding });
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0, noDelay: true }, (request, response) => {
      if (pathOf(request).startsWith(controlPrefix)) control(request, response);
      else serve(request, response);
    });
    server.on(
      "upgrade",
      createUpgrades({
        gateway: this.#gateway,
        activity: this.#activity,
        parts: this.#parts,
        pause: this.#pause,
        isShared,
        isEnding,
      }),
    );
    server.on("error", (error) => {
      log("error", "cannot listen", { error: error.message });
      this.#stop(error.message);
    });
    return server;
  }

  #closeClients(code: number, reason: string | undefined): void {
    this.#gateway.closeAll(code, reason);
    closeClientsOf(this.#parts, code, reason);
  }

  async #protectProfile(): Promise<void> {
    try {
      (await this.#parts.profileState.load()).protect();
    } catch (error) {
      log("error", "the profile cannot be protected against a crash", { error: messageOf(error) });
    }
  }

  #stop(detail?: string): void {
    void this.#ending.end({ type: "ending", reason: "stopped", ...(detail !== undefined && { detail }) });
  }

  async #shutDown(): Promise<void> {
    await this.#browser.stop();
    await this.#assignments.display?.close();
    this.#forwarder.close();
    this.#door?.close();
    this.#server.close();
    this.#server.closeAllConnections();
    this.#started.onShutDown();
  }
}
