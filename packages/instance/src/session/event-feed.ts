import type { ServerResponse } from "node:http";
import type { InstanceEvent } from "../protocol.ts";

/** The readers of `GET /_instance/events`. */
export interface EventFeed {
  /** Answers a reader: the present state, and then whatever happens. */
  follow(response: ServerResponse): void;
  send(event: InstanceEvent): void;
  /** Sends the last event; resolves when every reader has it, or has not taken it for {@link flushTimeoutMs}. */
  end(event: InstanceEvent): Promise<void>;
}

const flushTimeoutMs = 1_000;
/** A reader that is this far behind is let go; it begins anew with the present state. */
const maxPendingBytes = 256 * 1024;

/** @param state - makes the first event of each reader. */
export function createEventFeed(state: () => InstanceEvent): EventFeed {
  const readers = new Set<ServerResponse>();
  let last: InstanceEvent | undefined;

  function write(response: ServerResponse, event: InstanceEvent): void {
    if (response.writableLength > maxPendingBytes) response.destroy();
    else response.write(`${JSON.stringify(event)}\n`);
  }

  return {
    follow(response) {
      response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
      if (last !== undefined) {
        response.end(`${JSON.stringify(last)}\n`);
        return;
      }
      readers.add(response);
      response.on("close", () => readers.delete(response));
      response.on("error", () => undefined);
      write(response, state());
    },
    send(event) {
      for (const response of readers) write(response, event);
    },
    async end(event) {
      last = event;
      const flushed = [...readers].map(
        (response) =>
          new Promise<void>((resolve) => {
            response.once("close", resolve);
            response.end(`${JSON.stringify(event)}\n`, resolve);
          }),
      );
      const timeout = Promise.withResolvers<undefined>();
      const timer = setTimeout(timeout.resolve, flushTimeoutMs, undefined);
      await Promise.race([Promise.all(flushed), timeout.promise]);
      clearTimeout(timer);
    },
  };
}
