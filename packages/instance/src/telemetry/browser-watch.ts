import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { TelemetryCategory } from "./categories.ts";
import { recordConsoleCall, recordException } from "./console-events.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import { interactionBinding, interactionScript, interactionWorld, recordInteraction } from "./interaction-events.ts";
import { networkEvents, type FailureOf } from "./network-events.ts";
import { pageEvents } from "./page-events.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { typeOf, watchTarget, type WatchedTarget } from "./watched-target.ts";

type Events = ProtocolMapping.Events;
type Commands = ProtocolMapping.Commands;

/** The watch over all that one browser has open, and opens. */
export interface BrowserWatch {
  /** Switches to other categories; resolves when the browser has taken that for what is open. */
  select(categories: ReadonlySet<TelemetryCategory>): Promise<void>;
  /** Ends it; the browser forgets what was switched on for it. */
  end(): void;
}

/** What a target was told to report. */
interface Switches {
  readonly runtime: boolean;
  readonly network: boolean;
  readonly page: boolean;
  readonly timeline: boolean;
  readonly interaction: boolean;
}

const allOff: Switches = { runtime: false, network: false, page: false, timeline: false, interaction: false };

function switchesFor(categories: ReadonlySet<TelemetryCategory>): Switches {
  const interaction = categories.has("interaction");
  return {
    runtime: categories.has("console") || interaction,
    network: categories.has("network"),
    page: true,
    timeline: categories.has("page"),
    interaction,
  };
}

const autoAttach: Protocol.Target.SetAutoAttachRequest = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };

/**
 * Watches a browser by a session of its own on the instance's connection: pages, popups, frames in processes of their own and workers are attached to before
 * their first script, and wait only until what was asked of them has been sent.
 *
 * @param failureOf - why the egress gateway has just not reached `host:port`.
 * @throws {CdpError} when the browser refuses it, or is gone.
 */
export async function watchBrowser(
  cdp: CdpConnection,
  recorder: TelemetryRecorder,
  categories: ReadonlySet<TelemetryCategory>,
  failureOf: FailureOf,
): Promise<BrowserWatch> {
  const targets = new Map<string, WatchedTarget>();
  const switched = new Map<WatchedTarget, Switches>();
  const scripts = new Map<WatchedTarget, Promise<string | undefined>>();
  const attached = new Map<string, WatchedTarget>();
  const network = networkEvents(cdp, recorder, failureOf);
  const pages = pageEvents(recorder);
  const stops: (() => void)[] = [];
  let wanted = switchesFor(categories);
  /** What was open before has been told of everything once these resolve. */
  const open: Promise<unknown>[] = [];
  let seeded = false;

  const { sessionId: root } = await cdp.send("Target.attachToBrowserTarget");

  /** What is refused is refused because the target is gone, or of a kind that has none of it. */
  function tell<M extends keyof Commands>(
    target: WatchedTarget,
    method: M,
    params?: Commands[M]["paramsType"][0],
  ): Promise<Commands[M]["returnType"] | undefined> {
    return Promise.race([cdp.send(method, params, target.sessionId).catch(() => undefined), target.gone]);
  }

  function listen<E extends keyof Events>(event: E, listener: (target: WatchedTarget, params: Events[E][0]) => void): void {
    stops.push(
      cdp.on(event, (params, sessionId) => {
        const target = sessionId === undefined ? undefined : targets.get(sessionId);
        if (target !== undefined) listener(target, params);
      }),
    );
  }

  function apply(target: WatchedTarget): Promise<unknown> {
    const before = switched.get(target) ?? allOff;
    switched.set(target, wanted);
    const hasDocuments = target.kind === "page" || target.kind === "iframe";
    const sent: Promise<unknown>[] = [];
    if (hasDocuments && wanted.page && !before.page) sent.push(tell(target, "Page.enable"), readFrames(target));
    if (wanted.runtime && !before.runtime) sent.push(tell(target, "Runtime.enable"));
    else if (!wanted.runtime && before.runtime) sent.push(tell(target, "Runtime.disable"));
    if (wanted.network !== before.network)
      sent.push(wanted.network ? tell(target, "Network.enable", { maxPostDataSize: 64 * 1024 }) : tell(target, "Network.disable"));
    if (hasDocuments && wanted.timeline !== before.timeline)
      sent.push(tell(target, "PerformanceTimeline.enable", { eventTypes: wanted.timeline ? ["layout-shift", "largest-contentful-paint"] : [] }));
    if (hasDocuments && wanted.interaction && !before.interaction) {
      sent.push(tell(target, "Runtime.addBinding", { name: interactionBinding, executionContextName: interactionWorld }));
      const script = tell(target, "Page.addScriptToEvaluateOnNewDocument", {
        source: interactionScript,
        worldName: interactionWorld,
        runImmediately: true,
      }).then((added) => added?.identifier);
      scripts.set(target, script);
      sent.push(script);
    } else if (hasDocuments && !wanted.interaction && before.interaction) sent.push(removeScript(target));
    return Promise.all(sent);
  }

  async function removeScript(target: WatchedTarget): Promise<void> {
    const identifier = await scripts.get(target);
    scripts.delete(target);
    await tell(target, "Runtime.removeBinding", { name: interactionBinding });
    if (identifier !== undefined) await tell(target, "Page.removeScriptToEvaluateOnNewDocument", { identifier });
  }

  async function readFrames(target: WatchedTarget): Promise<void> {
    const tree = await tell(target, "Page.getFrameTree");
    if (tree !== undefined) takeTree(target, tree.frameTree);
  }

  function takeTree(target: WatchedTarget, { childFrames, frame }: Protocol.Page.FrameTree): void {
    if (!target.loaders.has(frame.id)) target.loaders.set(frame.id, frame.loaderId);
    for (const child of childFrames ?? []) takeTree(target, child);
  }

  stops.push(
    cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo, waitingForDebugger }, parent) => {
      if (parent === undefined || (parent !== root && !targets.has(parent))) return;
      const target = watchTarget(sessionId, targetInfo);
      if (attached.has(targetInfo.targetId)) {
        // A service worker is attached to by the browser and by its page: once is enough.
        if (waitingForDebugger) void tell(target, "Runtime.runIfWaitingForDebugger");
        cdp.send("Target.detachFromTarget", { sessionId }, parent).catch(() => undefined);
        return;
      }
      targets.set(sessionId, target);
      attached.set(targetInfo.targetId, target);
      if (!waitingForDebugger) target.consoleSinceMs = Date.now();
      const applied = apply(target);
      if (!seeded) open.push(applied);
      void tell(target, "Target.setAutoAttach", autoAttach);
      // Sent without waiting for the others: one that waits for the debugger answers some only afterwards.
      void tell(target, "Runtime.runIfWaitingForDebugger");
    }),
    cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
      const target = targets.get(sessionId);
      if (target !== undefined) drop(target);
    }),
    cdp.on("Target.targetCreated", ({ targetInfo }, sessionId) => {
      // Those that are open already are told of as well, before the answer.
      if (sessionId !== root || !seeded || targetInfo.type !== "page" || targetInfo.subtype !== undefined) return;
      const cutter = new Cutter();
      recorder.record({
        type: "page_tab_opened",
        category: "page",
        source: { kind: "cdp", event: "Target.targetCreated" },
        data: {
          target_id: targetInfo.targetId,
          target_type: typeOf(targetInfo.type),
          url: cutter.text(targetInfo.url, maxUrlBytes),
          title: cutter.text(targetInfo.title, 1024),
          ...(targetInfo.openerId !== undefined && { opener_id: targetInfo.openerId }),
        },
        ...cutter.mark,
      });
    }),
    cdp.on("Target.targetInfoChanged", ({ targetInfo }, sessionId) => {
      const target = sessionId === root ? attached.get(targetInfo.targetId) : undefined;
      if (target !== undefined) target.url = targetInfo.url;
    }),
  );

  function drop(target: WatchedTarget): void {
    target.leave();
    targets.delete(target.sessionId);
    if (attached.get(target.targetId) === target) attached.delete(target.targetId);
    switched.delete(target);
    scripts.delete(target);
    network.forget(target);
    pages.forget(target);
  }

  listen("Page.frameNavigated", (target, { frame }) => {
    target.loaders.set(frame.id, frame.loaderId);
    if (frame.parentId === undefined) {
      target.url = `${frame.url}${frame.urlFragment ?? ""}`;
      target.navSeq++;
    }
    pages.navigated(target, frame);
  });
  listen("Page.frameDetached", (target, { frameId }) => target.loaders.delete(frameId));
  listen("Page.domContentEventFired", pages.domContentLoaded);
  listen("Page.loadEventFired", pages.loaded);
  listen("PerformanceTimeline.timelineEventAdded", (target, { event }) => {
    pages.timeline(target, event);
  });
  listen("Runtime.executionContextCreated", (target, { context }) => {
    // CDP leaves open what stands in it; for documents it is the frame.
    const auxiliary = context.auxData as { readonly frameId?: unknown } | undefined;
    if (typeof auxiliary?.frameId === "string") target.contexts.set(context.id, auxiliary.frameId);
  });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- events of the console name contexts by it
  listen("Runtime.executionContextDestroyed", (target, { executionContextId }) => target.contexts.delete(executionContextId));
  listen("Runtime.executionContextsCleared", (target) => {
    target.contexts.clear();
  });
  listen("Runtime.consoleAPICalled", (target, event) => {
    if (recorder.captures("console")) recordConsoleCall(recorder, target, event);
  });
  listen("Runtime.exceptionThrown", (target, event) => {
    if (recorder.captures("console")) recordException(recorder, target, event);
  });
  listen("Runtime.bindingCalled", (target, event) => {
    recordInteraction(recorder, target, event);
  });
  listen("Network.requestWillBeSent", network.requestSent);
  listen("Network.responseReceived", network.responseReceived);
  listen("Network.dataReceived", (_target, event) => {
    network.dataReceived(event);
  });
  listen("Network.loadingFinished", network.finished);
  listen("Network.loadingFailed", network.failed);

  function end(): void {
    for (const stop of stops) stop();
    for (const target of targets.values()) target.leave();
    targets.clear();
    network.clear();
    pages.clear();
    // With it go the sessions of all targets, and any that waits goes on.
    cdp.send("Target.detachFromTarget", { sessionId: root }).catch(() => undefined);
  }

  try {
    await cdp.send("Target.setDiscoverTargets", { discover: true }, root);
    await cdp.send("Target.setAutoAttach", autoAttach, root);
    await Promise.all(open);
  } catch (error) {
    end();
    throw error;
  }
  seeded = true;

  return {
    async select(next) {
      const before = wanted;
      wanted = switchesFor(next);
      if (before.network && !wanted.network) network.clear();
      if (before.timeline && !wanted.timeline) pages.clear();
      await Promise.all(
        [...targets.values()].map((target) => {
          if (wanted.runtime && !before.runtime) target.consoleSinceMs = Date.now();
          return apply(target);
        }),
      );
    },
    end,
  };
}
