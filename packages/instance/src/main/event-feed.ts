import type { ServerResponse } from "node:http";
import type { InstanceEvent } from "../protocol/protocol.ts";

export interface EventFeed {
  follow(response: ServerResponse): void;
  send(event: InstanceEvent): void;
  /** Waits until every reader has the event, or {@link flushTimeoutMs}; `awaitReader`: also for a first reader. */
  end(event: InstanceEvent, awaitReader: boolean): Promise<void>;
}

const flushTimeoutMs = 1_000;
/** Slower readers are disconnected. They reconnect and start with the current state. */
const maxPendingBytes = 256 * 1024;

/** @param state - returns the first event of a reader. */
export function createEventFeed(state: () => InstanceEvent): EventFeed {
  const readers = new Set<ServerResponse>();
  const firstReader = Promise.withResolvers<undefined>();
  const finished: Promise<unknown>[] = [];
  let last: InstanceEvent | undefined;

  function write(response: ServerResponse, event: InstanceEvent): void {
    if (response.writableLength > maxPendingBytes) response.destroy();
    else response.write(`${JSON.stringify(event)}\n`);
  }

  function finish(response: ServerResponse, event: InstanceEvent): void {
    finished.push(new Promise((resolve) => response.once("close", resolve)));
    response.end(`${JSON.stringify(event)}\n`);
  }

  return {
    follow(response) {
      response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
      response.on("error", () => undefined);
      write(response, state());
      if (last === undefined) {
        readers.add(response);
        response.on("close", () => readers.delete(response));
      } else finish(response, last);
      firstReader.resolve(undefined);
    },
    send(event) {
      for (const response of readers) write(response, event);
    },
    async end(event, awaitReader) {
      last = event;
      for (const response of readers) finish(response, event);
      const timeout = Promise.withResolvers<undefined>();
      const timer = setTimeout(timeout.resolve, flushTimeoutMs, undefined);
      if (awaitReader) await Promise.race([firstReader.promise, timeout.promise]);
      await Promise.race([Promise.all(finished), timeout.promise]);
      clearTimeout(timer);
    },
  };
}
