import type { IncomingMessage, ServerResponse } from "node:http";

/** The last relayed characters, at most the length of a blank line. */
const ends = new WeakMap<ServerResponse, string>();
const blankLine = /(\r\n|\r|\n)(\r\n|\r|\n)$/;

export function followEvents(answer: IncomingMessage, response: ServerResponse): void {
  answer.on("data", (chunk: Buffer) => {
    ends.set(
      response,
      ((ends.get(response) ?? "") + chunk.toString("latin1", Math.max(0, chunk.length - 4))).slice(-4),
    );
  });
}

/** True if an event can be added now. The service writes its own streams in whole events. */
export function isBetweenEvents(response: ServerResponse): boolean {
  const end = ends.get(response);
  return end === undefined || blankLine.test(end);
}
