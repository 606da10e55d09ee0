import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { TelemetryCategory } from "./categories.ts";
import { recordConsoleCall, recordException } from "./console-events.ts";
import { recordInteraction } from "./interaction-events.ts";
import { networkEvents, type FailureOf, type NetworkEvents } from "./network-events.ts";
import { type PageEvents, pageEvents } from "./page-events.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { type Switches, switchesFor, TargetDomains } from "./target-domains.ts";
import { fieldBinding, hideTyped } from "./masking/typed-fields.ts";
import { watchTarget, type WatchedTarget } from "./watched-target.ts";

type Events = ProtocolMapping.Events;

const autoAttach: Protocol.Target.SetAutoAttachRequest = {
  autoAttach: true,
  waitForDebuggerOnStart: true,
  flatten: true,
};

/**
 * In a separate session, before the first script of pages, popups, frames and workers; they wait only until the
 * commands are sent. @throws {CdpError}
 */
export async function watchBrowser(
  cdp: CdpConnection,
  recorder: TelemetryRecorder,
  categories: ReadonlySet<TelemetryCategory>,
  failureOf: FailureOf,
): Promise<BrowserWatch> {
  const { sessionId: root } = await cdp.send("Target.attachToBrowserTarget");
  const watch = new BrowserWatch({
    cdp,
    root,
    recorder,
    wanted: switchesFor(categories),
    network: networkEvents(cdp, recorder, failureOf),
  });
  try {
    await watch.begin();
  } catch (error) {
    watch.end();
    throw error;
  }
  return watch;
}

interface TargetsWatchOptions {
  readonly cdp: CdpConnection;
  readonly root: string;
  readonly recorder: TelemetryRecorder;
  readonly wanted: Switches;
  readonly network: NetworkEvents;
}

export class BrowserWatch {
  readonly #cdp: CdpConnection;
  readonly #root: string;
  readonly #recorder: TelemetryRecorder;
  readonly #network: NetworkEvents;
  readonly #pages: PageEvents;
  readonly #domains: TargetDomains;
  #wanted: Switches;
  readonly #bySession = new Map<string, WatchedTarget>();
  readonly #byTarget = new Map<string, WatchedTarget>();
  readonly #stops: (() => void)[] = [];
  /** When these resolve, targets that were open before are set up. */
  readonly #opened: Promise<unknown>[] = [];
  #begun = false;

  constructor({ cdp, root, recorder, wanted, network }: TargetsWatchOptions) {
    this.#cdp = cdp;
    this.#root = root;
    this.#recorder = recorder;
    this.#wanted = wanted;
    this.#network = network;
    this.#pages = pageEvents(recorder);
    this.#domains = new TargetDomains(cdp);
    this.#followTargets();
    this.#followPages();
    this.#followContexts();
    this.#followNetwork();
  }

  async begin(): Promise<void> {
    await this.#cdp.send("Target.setDiscoverTargets", { discover: true }, this.#root);
    await this.#cdp.send("Target.setAutoAttach", autoAttach, this.#root);
    await Promise.all(this.#opened);
    this.#begun = true;
  }

  /** Changes the categories; resolves when the browser has applied the change to open targets. */
  async select(categories: ReadonlySet<TelemetryCategory>): Promise<void> {
    const before = this.#wanted;
    const wanted = switchesFor(categories);
    this.#wanted = wanted;
    if (before.network && !wanted.network) this.#network.clear();
    if (before.timeline && !wanted.timeline) this.#pages.clear();
    await Promise.all(
      [...this.#bySession.values()].map((target) => {
        if (wanted.runtime && !before.runtime) target.consoleSinceMs = Date.now();
        return this.#domains.apply(target, wanted);
      }),
    );
  }

  /** Stops watching; the browser drops the watch's settings. */
  end(): void {
    for (const stop of this.#stops) stop();
    for (const target of this.#bySession.values()) target.leave();
    this.#bySession.clear();
    this.#network.clear();
    this.#pages.clear();
    // Also ends the sessions of all targets; waiting targets resume.
    this.#cdp.send("Target.detachFromTarget", { sessionId: this.#root }).catch(() => undefined);
  }

  #followTargets(): void {
    this.#stops.push(
      this.#cdp.on("Target.attachedToTarget", (event, parent) => {
        if (parent === this.#root || (parent !== undefined && this.#bySession.has(parent))) this.#attach(event, parent);
      }),
      this.#cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
        const target = this.#bySession.get(sessionId);
        if (target !== undefined) this.#drop(target);
      }),
      this.#cdp.on("Target.targetCreated", ({ targetInfo }, sessionId) => {
        // Existing targets are reported too, before the answer.
        if (sessionId === this.#root && this.#begun && targetInfo.type === "page" && targetInfo.subtype === undefined)
          this.#pages.opened(targetInfo);
      }),
      this.#cdp.on("Target.targetCrashed", ({ targetId }, sessionId) => {
        const target = sessionId === this.#root ? this.#byTarget.get(targetId) : undefined;
        if (target?.kind === "page" || target?.kind === "iframe") this.#pages.crashed(target);
      }),
      this.#cdp.on("Target.targetInfoChanged", ({ targetInfo }, sessionId) => {
        const target = sessionId === this.#root ? this.#byTarget.get(targetInfo.targetId) : undefined;
        if (target !== undefined) target.url = targetInfo.url;
      }),
    );
  }

  #attach({ sessionId, targetInfo, waitingForDebugger }: Events["Target.attachedToTarget"][0], parent: string): void {
    const target = watchTarget(sessionId, targetInfo);
    if (this.#byTarget.has(targetInfo.targetId)) {
      // The browser and the page both attach to a service worker: once is enough.
      if (waitingForDebugger) void this.#domains.send(target, "Runtime.runIfWaitingForDebugger");
      this.#cdp.send("Target.detachFromTarget", { sessionId }, parent).catch(() => undefined);
      return;
    }
    this.#bySession.set(sessionId, target);
    this.#byTarget.set(targetInfo.targetId, target);
    if (!waitingForDebugger) target.consoleSinceMs = Date.now();
    const applied = this.#domains.apply(target, this.#wanted);
    if (!this.#begun) this.#opened.push(applied);
    void this.#domains.send(target, "Target.setAutoAttach", autoAttach);
    // Sent without waiting: a target that waits for the debugger answers some commands only afterwards.
    void this.#domains.send(target, "Runtime.runIfWaitingForDebugger");
  }

  #drop(target: WatchedTarget): void {
    target.leave();
    this.#bySession.delete(target.sessionId);
    if (this.#byTarget.get(target.targetId) === target) this.#byTarget.delete(target.targetId);
    this.#domains.forget(target);
    this.#network.forget(target);
    this.#pages.forget(target);
  }

  #followPages(): void {
    this.#listen("Page.frameNavigated", (target, { frame }) => {
      target.loaders.set(frame.id, frame.loaderId);
      if (frame.parentId === undefined) {
        target.url = `${frame.url}${frame.urlFragment ?? ""}`;
        target.navSeq++;
      }
      this.#pages.navigated(target, frame);
    });
    this.#listen("Page.frameDetached", (target, { frameId }) => target.loaders.delete(frameId));
    this.#listen("Page.domContentEventFired", this.#pages.domContentLoaded);
    this.#listen("Page.loadEventFired", this.#pages.loaded);
    this.#listen("PerformanceTimeline.timelineEventAdded", (target, { event }) => {
      this.#pages.timeline(target, event);
    });
  }

  #followContexts(): void {
    this.#listen("Runtime.executionContextCreated", (target, { context }) => {
      // CDP does not type this field; for documents it contains the frame.
      const auxiliary = context.auxData as { readonly frameId?: unknown } | undefined;
      if (typeof auxiliary?.frameId === "string") target.contexts.set(context.id, auxiliary.frameId);
    });
    // oxlint-disable-next-line typescript/no-deprecated -- events of the console name contexts by it
    this.#listen("Runtime.executionContextDestroyed", (target, { executionContextId }) =>
      target.contexts.delete(executionContextId),
    );
    this.#listen("Runtime.executionContextsCleared", (target) => {
      target.contexts.clear();
    });
    this.#listen("Runtime.consoleAPICalled", (target, event) => {
      if (this.#recorder.captures("console")) recordConsoleCall(this.#recorder, target, event);
    });
    this.#listen("Runtime.exceptionThrown", (target, event) => {
      if (this.#recorder.captures("console")) recordException(this.#recorder, target, event);
    });
    for (const event of ["Page.frameNavigated", "Page.domContentEventFired", "Page.frameStoppedLoading"] as const)
      this.#listen(event, (target) => {
        this.#domains.rebind(target);
      });
    this.#listen("Runtime.bindingCalled", (target, event) => {
      if (event.name === fieldBinding) hideTyped(this.#recorder, event.payload);
      else recordInteraction(this.#recorder, target, event);
    });
  }

  #followNetwork(): void {
    this.#listen("Network.requestWillBeSent", this.#network.requestSent);
    this.#listen("Network.responseReceived", this.#network.responseReceived);
    this.#listen("Network.dataReceived", (_target, event) => {
      this.#network.dataReceived(event);
    });
    this.#listen("Network.loadingFinished", this.#network.finished);
    this.#listen("Network.loadingFailed", this.#network.failed);
  }

  #listen<E extends keyof Events>(event: E, listener: (target: WatchedTarget, params: Events[E][0]) => void): void {
    this.#stops.push(
      this.#cdp.on(event, (params, sessionId) => {
        const target = sessionId === undefined ? undefined : this.#bySession.get(sessionId);
        if (target !== undefined) listener(target, params);
      }),
    );
  }
}
