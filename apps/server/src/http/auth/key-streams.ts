import { ServiceError } from "@shoal/router";
import type { ServerResponse } from "node:http";
import { isBetweenEvents } from "../event-boundary.ts";
import { keyIdOf } from "../request-facts.ts";
import type { KeyConnection } from "./key-watch.ts";

/** Time for a client to read the last event of a stream. */
const flushTimeoutMs = 500;

/** Yields the answers in progress that depend on a key. Answers whose head is not sent yet may finish. */
export function* keyStreams(responses: Iterable<ServerResponse>): Generator<KeyConnection> {
  for (const response of responses) {
    if (!response.headersSent || response.writableEnded) continue;
    const keyId = keyIdOf(response.req);
    if (keyId === undefined) continue;
    yield {
      keyId,
      end(problem) {
        endStream(response, problem);
      },
    };
  }
}

function endStream(response: ServerResponse, problem: string): void {
  if (response.writableEnded || response.destroyed) return;
  const isEventStream = String(response.getHeader("content-type")).startsWith("text/event-stream");
  if (!isEventStream || !isBetweenEvents(response)) {
    response.destroy();
    return;
  }
  const error = new ServiceError(401, "unauthorized", `The stream was ended. ${problem}`);
  response.end(`event: error\ndata: ${JSON.stringify({ ...error.toBody(), status: error.status })}\n\n`);
  const timer = setTimeout(() => response.destroy(), flushTimeoutMs).unref();
  response.once("close", () => {
    clearTimeout(timer);
  });
}
