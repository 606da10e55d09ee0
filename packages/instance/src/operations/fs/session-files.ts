import type { browserFs } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { fileSystemHandlers } from "./handlers.ts";
import type { SessionRoot } from "./paths.ts";
import { watchHandlers } from "./watch/watches.ts";

/** The operations on files of a session without a browser. */
export interface SessionFileOperations {
  readonly handlers: Handlers<typeof browserFs, unknown>;
  /** Ends the watches. */
  close(): Promise<void>;
}

/** @param root - `directory` is the session's `/`. */
export function sessionFileOperations(root: SessionRoot): SessionFileOperations {
  const watches = watchHandlers(root);
  const { startWatch, stopWatch, watchEvents } = watches;
  return {
    handlers: { ...fileSystemHandlers(root), startWatch, stopWatch, watchEvents },
    close: () => watches.close(),
  };
}
