import type { Log } from "../../log/log.ts";

/** More claims than a server has in progress when its database fails; others hold their keys until they expire. */
const maxEntries = 10_000;
const everyMs = 1000;

/** Claims that an outage kept from being updated; retried, so that a key does not block. */
export interface Unsettled {
  /** Retries `write` until it succeeds. */
  add(name: string, write: () => Promise<void>): void;
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
