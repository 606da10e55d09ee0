import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";

export type TargetType = "page" | "background_page" | "service_worker" | "shared_worker" | "other";

export interface WatchedTarget {
  readonly sessionId: string;
  readonly targetId: string;
  /** CDP's name: `page`, `iframe`, `worker`, … */
  readonly kind: string;
  readonly type: TargetType;
  url: string;
  /** Number of navigations of the page's main frame so far, or of the surrounding page's. */
  navSeq: number;
  /** Loader id of each frame's document. */
  readonly loaders: Map<string, string>;
  readonly contexts: Map<number, string>;
  /** Switching the console on repeats earlier events; those before this time are ignored. Milliseconds since 1970. */
  consoleSinceMs: number;
  readonly gone: Promise<undefined>;
  readonly leave: () => void;
}

const plainTypes: ReadonlySet<string> = new Set(["page", "background_page", "service_worker", "shared_worker"]);

export function typeOf(kind: string): TargetType {
  // The set contains exactly these names.
  return plainTypes.has(kind) ? (kind as TargetType) : "other";
}

export function watchTarget(
  sessionId: string,
  { targetId, type: kind, url }: Protocol.Target.TargetInfo,
): WatchedTarget {
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

/** Returns the fields that locate an event; without `frameId`, the main frame. */
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
