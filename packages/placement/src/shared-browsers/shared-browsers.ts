import { instanceControl } from "@shoal/instance";
import type { Box, BoxMaker, Viewport } from "../boxes/box.ts";
import { streamFromInstance } from "../instances/call-instance.ts";
import type { InstanceHandle } from "../instances/instance-handle.ts";
import { startInstance } from "../instances/start-instance.ts";
import type { PlacementKind } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { ContextBox } from "./context-box.ts";

export interface SharedBrowsersOptions {
  readonly kind: PlacementKind;
  readonly log: PlacementLog;
  /** Milliseconds. */
  readonly readyMs: number;
  /** Milliseconds until a browser without sessions ends; 30,000 by default. */
  readonly idleMs?: number | undefined;
  readonly take: () => Promise<InstanceHandle>;
}

/** Limits what sessions lose with a crash, and the memory of one browser. */
export const maxContextsPerBrowser = 16;
/** A project's next session often follows soon. */
const usualIdleMs = 30_000;

/** The browsers that sessions of one project share. They start on demand, and end some time after their last session. */
export class SharedBrowsers {
  readonly #options: SharedBrowsersOptions;
  /** Only browsers that accept sessions. */
  readonly #projects = new Map<string, Set<SharedBrowser>>();
  readonly #running = new Set<SharedBrowser>();
  #isClosed = false;

  constructor(options: SharedBrowsersOptions) {
    this.#options = options;
  }

  hasRoom(project = ""): boolean {
    return this.#withRoom(project)?.isReady === true;
  }

  /** Adds a session. @throws {PlacementError} */
  async open(project = "", signal: AbortSignal = new AbortController().signal): Promise<InstanceHandle> {
    if (this.#isClosed)
      throw new PlacementError("closed", "The placement is closed because the service is shutting down.");
    const browser = this.#withRoom(project) ?? this.#start(project);
    const leave = browser.join();
    try {
      const host = await browser.host(signal);
      const { kind, log, readyMs } = this.#options;
      const session = await startInstance(new ContextMaker(kind, host), { log, readyMs }, signal);
      void session.ended.then(leave);
      return session;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((each) => each.stop()));
  }

  #withRoom(project: string): SharedBrowser | undefined {
    return [...(this.#projects.get(project) ?? [])].find((browser) => browser.hasRoom);
  }

  #start(project: string): SharedBrowser {
    const browsers = this.#projects.get(project) ?? new Set();
    this.#projects.set(project, browsers);
    const started = this.#options.take().then((host) => {
      if (project !== "") host.setProject(project);
      return host;
    });
    const browser = new SharedBrowser(started, this.#options.idleMs ?? usualIdleMs, () => {
      browsers.delete(browser);
      if (browsers.size === 0 && this.#projects.get(project) === browsers) this.#projects.delete(project);
    });
    browsers.add(browser);
    this.#running.add(browser);
    void browser.ended.then(() => this.#running.delete(browser));
    return browser;
  }
}

class SharedBrowser {
  isReady = false;
  readonly ended: Promise<unknown>;
  readonly #started: Promise<InstanceHandle>;
  readonly #idleMs: number;
  readonly #onGone: () => void;
  #sessions = 0;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(started: Promise<InstanceHandle>, idleMs: number, onGone: () => void) {
    this.#started = started;
    this.#idleMs = idleMs;
    this.#onGone = onGone;
    this.ended = started.then(
      (host) => host.ended,
      () => undefined,
    );
    started.then(
      (host) => {
        this.isReady = true;
        host.onEvent((event) => {
          // The contexts of the crashed browser are gone, and its sessions end.
          if (event.type === "browser_restarted") this.#retire();
        });
        void host.ended.then(() => {
          this.#retire();
        });
      },
      () => {
        this.#retire();
      },
    );
  }

  get hasRoom(): boolean {
    return !this.#isOver && this.#sessions < maxContextsPerBrowser;
  }

  /** Call the returned function at the end of the session. */
  join(): () => void {
    this.#sessions++;
    clearTimeout(this.#timer);
    return () => {
      this.#sessions--;
      if (this.#sessions > 0) return;
      if (this.#isOver) void this.stop();
      else this.#timer = setTimeout(() => void this.stop(), this.#idleMs).unref();
    };
  }

  /** Other sessions may wait for the same browser, so aborting ends only the wait. */
  host(signal: AbortSignal): Promise<InstanceHandle> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        reject(new PlacementError("start_failed", "The start of a shared browser was aborted."));
      };
      if (signal.aborted) giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      this.#started.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", giveUp);
      });
    });
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#retire();
    const host = await this.#started.catch(() => undefined);
    await host?.stop();
  }

  #retire(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onGone();
    if (this.#sessions === 0) void this.stop();
  }
}

/** Makes boxes in the box of an instance. */
class ContextMaker implements BoxMaker {
  readonly kind: PlacementKind;
  readonly #host: InstanceHandle;

  constructor(kind: PlacementKind, host: InstanceHandle) {
    this.kind = kind;
    this.#host = host;
  }

  async start(id: string, viewport: Viewport): Promise<Box> {
    const host = this.#host;
    const place = await host.openShared(id);
    try {
      const { egressPath, listenPath } = place.paths;
      const output = await streamFromInstance(host, instanceControl.openContext, {
        body: { context_id: id, listen_path: listenPath, egress_path: egressPath, viewport },
      });
      return new ContextBox(id, { host, place, output });
    } catch (error) {
      await place.clear();
      throw error;
    }
  }
}
