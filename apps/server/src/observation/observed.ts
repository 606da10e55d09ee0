import type { Placement } from "@shoal/placement";
import type { SessionStore } from "../browsers/session-store.ts";

/** Follows what sessions are made of, without those who make them knowing. */
export interface SessionObserver {
  /** Goes round the start of an instance. */
  starting<T>(start: () => Promise<T>): Promise<T>;
  /** Goes round the insertion of a session's row. */
  storing<T>(store: () => Promise<T>): Promise<T>;
  /** @param reason - as the session's row says it. */
  ended(reason: string): void;
}

/** The placement, seen by an observer. */
export function observedPlacement(placement: Placement, observer: SessionObserver): Placement {
  return { ...placement, acquire: (...args) => observer.starting(() => placement.acquire(...args)) };
}

/** The rows of sessions, seen by an observer. */
export function observedSessionStore(store: SessionStore, observer: SessionObserver): SessionStore {
  return {
    ...store,
    insert: (...args) => observer.storing(() => store.insert(...args)),
    async end(...args) {
      await store.end(...args);
      observer.ended(args[2]);
    },
  };
}
