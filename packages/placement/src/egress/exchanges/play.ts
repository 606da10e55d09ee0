import type { AnswerHead, ExchangeRequest, PlayedChunk, PlayedExchange } from "../../interface/exchanges.ts";
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { MessageCount } from "./message-count.ts";

/** RFC 6455, 1.3. */
const acceptSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** @param url - absolute, of a request that may be an upgrade. */
export function exchangeRequest({ headers, method = "GET" }: IncomingMessage, url: string): ExchangeRequest {
  const { "if-modified-since": since, "if-none-match": match, range, upgrade } = headers;
  return {
    method,
    url: upgrade?.toLowerCase() === "websocket" ? url.replace(/^http/, "ws") : url,
    isConditional: (since ?? match) !== undefined,
    ...(range !== undefined && { range }),
  };
}

/** Writes a recorded answer at its recorded pace. Resolves when the response is closed. @throws before the head if it cannot be read. */
export async function playAnswer(response: ServerResponse, played: PlayedExchange): Promise<void> {
  const gone = signalOf(response);
  try {
    if (!(await wait(played.head?.afterMs ?? 0, gone))) return;
    if (played.head === undefined) {
      if (played.end === "broken") response.destroy();
      else await once(gone, "abort");
      return;
    }
    const chunks = played.chunks()[Symbol.asyncIterator]();
    const first = await chunks.next();
    const { headers, status, statusText } = played.head;
    response.writeHead(status, statusText, [...headers]);
    response.flushHeaders();
    await playChunks(response, { first, chunks }, gone);
    if (played.end === "complete") response.end();
    else if (played.end === "broken") response.destroy();
    if (!gone.aborted) await once(gone, "abort");
  } catch (error) {
    if (response.headersSent) response.destroy();
    throw error;
  }
}

/** Accepts the WebSocket as recorded. Each recorded chunk waits for the messages of the browser that preceded it. */
export async function playSocket(request: IncomingMessage, socket: Duplex, played: PlayedExchange): Promise<void> {
  const gone = signalOf(socket);
  try {
    if (!(await wait(played.head?.afterMs ?? 0, gone))) return;
    if (played.head === undefined) {
      socket.destroy();
      return;
    }
    socket.write(upgradeHead(request, played.head), "latin1");
    const messages = new MessageCount();
    socket.on("data", (chunk: Buffer) => {
      messages.add(chunk);
    });
    const chunks = played.chunks()[Symbol.asyncIterator]();
    await playChunks(socket, { first: await chunks.next(), chunks }, gone, messages);
    if (played.end !== "open") socket.end();
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function playChunks(
  target: Writable,
  {
    chunks,
    first,
  }: { readonly first: IteratorResult<PlayedChunk, unknown>; readonly chunks: AsyncIterator<PlayedChunk> },
  gone: AbortSignal,
  messages?: MessageCount,
): Promise<void> {
  for (let turn = first; turn.done !== true; turn = await chunks.next()) {
    const chunk = turn.value;
    await messages?.reached(chunk.messages, gone);
    if (!(await wait(chunk.afterMs, gone))) return;
    if (!target.write(chunk.bytes)) await once(target, "drain", { signal: gone }).catch(() => undefined);
    if (gone.aborted) return;
  }
}

function upgradeHead(request: IncomingMessage, { headers, status, statusText }: AnswerHead): string {
  const key = request.headers["sec-websocket-key"] ?? "";
  const lines = [`HTTP/1.1 ${String(status)} ${statusText}`];
  if (status === 101) lines.push("Connection: Upgrade", "Upgrade: websocket");
  else lines.push("Connection: close");
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    const isAccept = name.toLowerCase() === "sec-websocket-accept";
    lines.push(`${name}: ${isAccept ? createHash("sha1").update(`${key}${acceptSalt}`).digest("base64") : value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function signalOf(stream: Duplex | ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (stream.closed) gone.abort();
  else
    stream.once("close", () => {
      gone.abort();
    });
  return gone.signal;
}

/** @returns whether the client is still there. */
async function wait(ms: number, gone: AbortSignal): Promise<boolean> {
  if (ms > 0 && !gone.aborted) await delay(ms, undefined, { signal: gone, ref: false }).catch(() => undefined);
  return !gone.aborted;
}
