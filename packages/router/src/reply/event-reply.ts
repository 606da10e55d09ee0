import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { StreamFrame } from "../handler/handler.ts";

/** Default milliseconds between two comments on an event stream. */
export const defaultHeartbeatMs = 15_000;

/** They ask proxies not to buffer the stream. */
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
  /** Words of `X-Shoal-Stream`. */
  readonly marks: ReadonlySet<string>;
  readonly heartbeatMs: number;
}

/**
 * Writes frames at the pace of the client. When the client disconnects, the iterator's `return` is called, even while
 * its `next` is pending. An iterator that fails cuts the connection, so that the reader reconnects with its last id; a
 * clean end would mean "complete".
 */
export async function sendEvents(
  response: ServerResponse,
  reply: Events,
  report: (error: unknown) => void,
): Promise<void> {
  const iterator = reply.events[Symbol.asyncIterator]();
  let finished = false;
  const stop = (): void => {
    clearInterval(heartbeat);
    if (finished) return;
    finished = true;
    Promise.resolve(iterator.return?.()).catch(report);
  };
  const heartbeat = setInterval(() => {
    // No heartbeats for a client that does not read: they would pile up.
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
      const text = frameText(result.value, reply.marks);
      if (text !== undefined && !isGone(response) && !response.write(text)) await drained(response);
    }
  } catch (error) {
    finished = true;
    if (!isGone(response)) {
      report(error);
      // Flush written frames, or a reader that reconnects is cut at the same place forever. Node 24.22 and newer pass them to the
      // socket in the next tick.
      process.nextTick(() => {
        if (response.socket === null) response.destroy();
        else response.socket.destroySoon();
      });
      clearInterval(heartbeat);
      return;
    }
  }
  clearInterval(heartbeat);
  if (!isGone(response)) response.end();
}

/** A function, so that TypeScript does not narrow across the `await`. */
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

function frameText(frame: StreamFrame<unknown>, marks: ReadonlySet<string>): string | undefined {
  // A line break in an id would end the field.
  const id = frame.id.replace(/[\r\n\0]/g, "");
  if ("gap" in frame)
    return marks.has("gaps") ? `id: ${id}\nevent: gap\ndata: ${JSON.stringify(frame.gap)}\n\n` : undefined;
  if ("caughtUp" in frame) return marks.has("caught_up") ? `id: ${id}\nevent: caught_up\ndata: {}\n\n` : undefined;
  if ("skipped" in frame) return `id: ${id}\n\n`;
  const event = frame.event === undefined ? "" : `event: ${frame.event}\n`;
  return `id: ${id}\n${event}data: ${JSON.stringify(frame.data)}\n\n`;
}
