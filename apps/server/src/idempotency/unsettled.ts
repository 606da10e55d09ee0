import type { Log } from "../log.ts";

/** More than can be under way on one server when its database goes away; claims beyond that run out. */
const maxEntries = 10_000;
const everyMs = 1000;

/** What could not be written of claims while the database was away, and is as soon as it is back: a key must not wait for its lease while its server lives. */
export interface Unsettled {
  /** @param write - tried again until it succeeds. */
  add(name: string, write: () => Promise<void>): void;
  /** Writes what there is of a claim, now. @throws what the database says while it cannot. */
  settle(name: string): Promise<void>;
  close(): void;
}

export function createUnsettled(log: Log): Unsettled {
  const writes = new Map<string, () => Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function settle(name: string): Promise<void> {
    const write = writes.get(name);
    if (write === undefined) return;
    await write();
    if (writes.get(name) === write) writes.delete(name);
  }

  async function tryAll(): Promise<void> {
    for (const name of [...writes.keys()]) await settle(name);
    log.info({}, "the idempotency keys that could not be settled are");
  }

  function plan(): void {
    if (isClosed || timer !== undefined || writes.size === 0) return;
    timer = setTimeout(() => {
      tryAll()
        // It has been said when it could not be written first.
        .catch(() => undefined)
        .finally(() => {
          timer = undefined;
          plan();
        });
    }, everyMs);
    timer.unref();
  }

  return {
    add(name, write) {
      const [oldest] = writes.keys();
      if (writes.size >= maxEntries && oldest !== undefined) writes.delete(oldest);
      writes.set(name, write);
      plan();
    },
    settle,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
