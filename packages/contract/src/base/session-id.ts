import { Id, lazyObject } from "@shoal/schemas";

export const sessionIdField = {
  /** The session's id, or the name of a running session. */
  id: Id,
};

/** Parameters of the path of a session. */
export const sessionId = lazyObject(() => sessionIdField);
