import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";

export type TargetType = "page" | "background_page" | "service_worker" | "shared_worker" | "other";

/** A page, a frame in a process of its own, or a worker, while it is watched. */
export interface WatchedTarget {
  readonly sessionId: string;
  readonly targetId: string;
  /** As CDP names it: `page`, `iframe`, `worker`, … */
  readonly kind: string;
  readonly type: TargetType;
  url: string;
  /** Navigations of a page's main frame so far, or of the page around. */
  navSeq: number;
  /** Document of each frame. */
  readonly loaders: Map<string, string>;
  /** Frame of each execution context. */
  readonly contexts: Map<number, string>;
  /** Events of the console from before are told again when it is switched on; those are older than this, in milliseconds since 1970. */
  consoleSinceMs: number;
  /** Resolves when it is no longer watched. */
  readonly gone: Promise<undefined>;
  readonly leave: () => void;
}

const plainTypes: ReadonlySet<string> = new Set(["page", "background_page", "service_worker", "shared_worker"]);

export function typeOf(kind: string): TargetType {
  // The set holds just these names.
  return plainTypes.has(kind) ? (kind as TargetType) : "other";
}

export function watchTarget(sessionId: string, { targetId, type: kind, url }: Protocol.Target.TargetInfo): WatchedTarget {
  const gone = Promise.withResolvers<undefined>();
  return {
    sessionId,
    targetId,
    kind,
    type: typeOf(kind),
    url,
    navSeq: 0,
    loaders: new Map(),
    contexts: new Map(),
    consoleSinceMs: 0,
    gone: gone.promise,
    leave() {
      gone.resolve(undefined);
    },
  };
}

/** Where something happened; `frameId` is the main frame where it is not known. */
export function contextOf(target: WatchedTarget, frameId: string | undefined) {
  const frame = frameId ?? (target.kind === "page" || target.kind === "iframe" ? target.targetId : undefined);
  const loader = frame === undefined ? undefined : target.loaders.get(frame);
  return {
    session_id: target.sessionId,
    target_id: target.targetId,
    target_type: target.type,
    ...(frame !== undefined && { frame_id: frame }),
    ...(loader !== undefined && { loader_id: loader }),
    url: new Cutter().text(target.url, maxUrlBytes),
    ...(target.kind === "page" && { nav_seq: target.navSeq }),
  };
}
