import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { StreamFrame } from "./handler.ts";

/** Milliseconds between two comments on an event stream where the program does not say. */
export const defaultHeartbeatMs = 15_000;

/** Headers of every event stream. Proxies are asked not to collect it. */
export const eventHeaders: OutgoingHttpHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-sse-content-type": "application/json",
  "x-accel-buffering": "no",
};

interface Events {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly events: AsyncIterable<StreamFrame<unknown>>;
  readonly gaps: boolean;
  readonly heartbeatMs: number;
}

/**
 * Writes frames as they come, no faster than the client reads them, with a comment as heartbeat in between.
 * When the client goes away the iterator's `return` is called, even while its `next` is pending. An iterator that fails cuts the
 * connection: a clean end would tell the reader that it has everything, a cut makes it come back with its last id.
 */
export async function sendEvents(response: ServerResponse, reply: Events, report: (error: unknown) => void): Promise<void> {
  const iterator = reply.events[Symbol.asyncIterator]();
  let finished = false;
  const stop = (): void => {
    clearInterval(heartbeat);
    if (finished) return;
    finished = true;
    Promise.resolve(iterator.return?.()).catch(report);
  };
  const heartbeat = setInterval(() => {
    // A client that does not read gets no heartbeats either: they would only pile up.
    if (!response.writableNeedDrain) response.write(":\n\n");
  }, reply.heartbeatMs);
  response.on("close", stop);
  response.on("error", () => undefined);
  if (response.destroyed) stop();
  else {
    response.writeHead(reply.status, reply.headers);
    response.flushHeaders();
  }
  try {
    while (!response.destroyed) {
      const result = await iterator.next();
      if (result.done === true) {
        finished = true;
        break;
      }
      const text = frameText(result.value, reply.gaps);
      if (text !== undefined && !isGone(response) && !response.write(text)) await drained(response);
    }
  } catch (error) {
    finished = true;
    if (!isGone(response)) {
      report(error);
      // Frames that were written but not sent yet still go out, else a reader that comes back is cut at the same place for ever.
      if (response.socket === null) response.destroy();
      else response.socket.destroySoon();
    }
  }
  clearInterval(heartbeat);
  if (!isGone(response)) response.end();
}

/** As a function, for the compiler takes what it saw before an `await` for what holds after it. */
function isGone(response: ServerResponse): boolean {
  return response.destroyed;
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

function frameText(frame: StreamFrame<unknown>, gaps: boolean): string | undefined {
  // Ids are made by handlers; a line break in one would end the field.
  const id = frame.id.replace(/[\r\n\0]/g, "");
  if ("gap" in frame) return gaps ? `id: ${id}\nevent: gap\ndata: ${JSON.stringify(frame.gap)}\n\n` : undefined;
  return `id: ${id}\ndata: ${JSON.stringify(frame.data)}\n\n`;
}
