import type { Change, Database } from "@shoal/database";

/**
 * Resolves when a change of the row makes `isOver` resolve with true, or when the signal aborts. Works on any server.
 * Rejects with errors of `isOver`.
 */
export async function untilRow(
  database: Pick<Database, "onChange">,
  { id, table }: Change,
  isOver: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  // Its event is past.
  if (signal.aborted) return;
  const over = Promise.withResolvers<void>();
  const end = (): void => {
    over.resolve();
  };
  const look = (): void => {
    isOver().then((is) => {
      if (is) end();
    }, over.reject);
  };
  const stop = database.onChange((change) => {
    if (change === undefined || (change.table === table && change.id === id)) look();
  });
  signal.addEventListener("abort", end, { once: true });
  try {
    // It may have changed before the listener was added.
    look();
    await over.promise;
  } finally {
    stop();
    signal.removeEventListener("abort", end);
  }
}
