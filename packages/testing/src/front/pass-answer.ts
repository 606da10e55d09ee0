import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { Fault } from "./faults.ts";

const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Passes an answer on, up to its cut. */
export function passAnswer(answer: IncomingMessage, response: ServerResponse, cut: Fault["cut"]): void {
  if (cut === "answer") {
    // The call has taken effect. A stream would not end.
    if (answer.headers["content-type"]?.includes("json") !== true) response.destroy();
    answer.resume();
    answer.on("close", () => {
      response.destroy();
    });
    return;
  }
  const headers: string[] = [];
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = answer.rawHeaders.slice(at, at + 2);
    if (!ofConnection.has(name.toLowerCase())) headers.push(name, value);
  }
  response.writeHead(answer.statusCode ?? 502, headers);
  response.flushHeaders();
  const limit = cut === undefined || cut === "before" ? undefined : limitOf(cut, answer);
  const done = (error: unknown): void => {
    if (error) response.destroy();
  };
  if (limit === undefined) pipeline(answer, response, done);
  else passUntil(limit, answer, response).catch(done);
}

/** Returns how many bytes of a chunk may pass, and whether nothing follows them. */
type Limit = (chunk: Buffer) => { readonly bytes: number; readonly isEnd: boolean };

function limitOf(
  cut: { readonly afterEvents: number } | { readonly afterBytes: number },
  { headers }: IncomingMessage,
): Limit | undefined {
  const isEvents = headers["content-type"]?.startsWith("text/event-stream") === true;
  if ("afterEvents" in cut) return isEvents ? eventLimit(cut.afterEvents) : undefined;
  let left = cut.afterBytes;
  return (chunk) => {
    const bytes = Math.min(left, chunk.length);
    const isEnd = chunk.length > left;
    left -= bytes;
    return { bytes, isEnd };
  };
}

/** Comments and heartbeats without data are not events. */
function eventLimit(count: number): Limit {
  let left = count;
  let hasData = false;
  let line = "";
  return (chunk) => {
    if (left === 0) return { bytes: 0, isEnd: true };
    for (const [at, byte] of chunk.entries()) {
      if (byte !== 0x0a) {
        if (line.length < 5) line += String.fromCodePoint(byte);
        continue;
      }
      if (line === "data:") hasData = true;
      else if (line === "" && hasData) {
        hasData = false;
        left -= 1;
        if (left === 0) return { bytes: at + 1, isEnd: true };
      }
      line = "";
    }
    return { bytes: chunk.length, isEnd: false };
  };
}

/** The bytes before the cut leave first. */
async function passUntil(limit: Limit, answer: IncomingMessage, response: ServerResponse): Promise<void> {
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const { bytes, isEnd } = limit(chunk);
    if (bytes > 0)
      await new Promise<void>((resolve) => {
        response.write(chunk.subarray(0, bytes), () => {
          resolve();
        });
      });
    if (isEnd) {
      response.destroy();
      return;
    }
  }
  response.end();
}
