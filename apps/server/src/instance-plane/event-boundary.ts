import type { IncomingMessage, ServerResponse } from "node:http";

/** The end of what was relayed, by response; at most as many characters as a blank line has. */
const ends = new WeakMap<ServerResponse, string>();
const blankLine = /(\r\n|\r|\n)(\r\n|\r|\n)$/;

/** Follows a relayed event stream, so that {@link isBetweenEvents} knows where it is. */
export function followEvents(answer: IncomingMessage, response: ServerResponse): void {
  answer.on("data", (chunk: Buffer) => {
    ends.set(response, ((ends.get(response) ?? "") + chunk.toString("latin1", Math.max(0, chunk.length - 4))).slice(-4));
  });
}

/** Whether an event can be added to a stream now. The service's own streams are written in whole events. */
export function isBetweenEvents(response: ServerResponse): boolean {
  const end = ends.get(response);
  return end === undefined || blankLine.test(end);
}
