import { errorBodyOf } from "@shoal/placement";
import { ignoredFieldsHeader, ServiceError } from "@shoal/router";
import { createHash } from "node:crypto";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import type { Duplex } from "node:stream";

/** RFC 6455, section 1.3. */
const handshakeGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** Node refuses longer heads. */
const maxHeadBytes = 16_384;
/** Longer bodies of refusals, and those without a length, are not read. */
const maxRefusalBytes = 16_384;

export interface Handshake {
  /** Only its handshake headers are sent. */
  readonly request: IncomingMessage;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time until the end of the answer's head, or of a refusal. */
  readonly timeoutMs: number;
}

export interface AcceptedHandshake {
  readonly socket: Duplex;
  readonly rest: Buffer;
  /** The head for the client, without any header of the answer. */
  readonly head: string;
}

/** @param ignored - names that this service chose. */
export function withIgnoredFields(head: string, ignored: readonly string[]): string {
  return ignored.length === 0
    ? head
    : head.replace(/\r\n\r\n$/, `\r\n${ignoredFieldsHeader}: ${ignored.join(", ")}\r\n\r\n`);
}

function unusable(why: string, cause?: unknown): ServiceError {
  return new ServiceError(502, "bad_gateway", `The session's instance did not accept the WebSocket: ${why}.`, {
    hint: "Inspect the session with browsers.get.",
    cause,
  });
}

function acceptOf(request: IncomingMessage): string {
  return createHash("sha1")
    .update((request.headers["sec-websocket-key"] ?? "") + handshakeGuid)
    .digest("base64");
}

/** Returns why a 101 answer is invalid for this handshake, or `undefined`. */
function mismatch(answer: IncomingMessage, accept: string): string | undefined {
  const { connection, upgrade, "sec-websocket-accept": accepted } = answer.headers;
  const isUpgrade = connection?.split(",").some((word) => word.trim().toLowerCase() === "upgrade") === true;
  if (!isUpgrade || upgrade?.toLowerCase() !== "websocket") return "it changed to another protocol";
  if (accepted !== accept) return "its Sec-WebSocket-Accept does not match";
  return answer.headers["sec-websocket-extensions"] === undefined
    ? undefined
    : "it chose an extension that was not offered";
}

async function readRefusal(answer: IncomingMessage): Promise<ServiceError> {
  const status = answer.statusCode ?? 0;
  const length = Number(answer.headers["content-length"] ?? Infinity);
  if (status < 400 || status > 599 || length > maxRefusalBytes)
    return unusable(`it answered status ${String(status)} without an error body`);
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = errorBodyOf(Buffer.concat(chunks).toString());
  if (body === undefined) return unusable(`it answered status ${String(status)} without an error body`);
  const retryAfterSeconds = Number(answer.headers["retry-after"]);
  const { code, field, hint, limit, message } = body;
  return new ServiceError(status, code, message, {
    field,
    limit,
    hint,
    ...(retryAfterSeconds >= 0 && retryAfterSeconds < 86_400 && { retryAfterSeconds }),
  });
}

/** Drops the client's other headers: credentials, cookies and a reverse proxy's user. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const { upgrade, "sec-websocket-key": key, "sec-websocket-version": version } = headers;
  return {
    host: "instance",
    connection: "Upgrade",
    ...(upgrade !== undefined && { upgrade }),
    ...(key !== undefined && { "sec-websocket-key": key }),
    ...(version !== undefined && { "sec-websocket-version": version }),
  };
}

/**
 * Code in a sandbox controls every byte of the answer: the connection becomes a WebSocket only after a valid 101, and
 * no header of the answer is passed on.
 * @throws {ServiceError} the refusal from the other side, or 502 `bad_gateway` for any other answer. Destroys the
 * connection.
 */
export async function openWebSocket(
  socket: Duplex,
  { headers, path, request, timeoutMs }: Handshake,
): Promise<AcceptedHandshake> {
  const outgoing = httpRequest({
    createConnection: () => socket,
    method: "GET",
    path,
    headers: { ...headersOf(request), ...headers },
    maxHeaderSize: maxHeadBytes,
  });
  const timer = setTimeout(() => {
    outgoing.destroy(unusable(`it did not answer within ${String(timeoutMs / 1000)} s`));
    socket.destroy();
  }, timeoutMs);
  try {
    const accept = acceptOf(request);
    const rest = await settled(outgoing, accept);
    return {
      socket,
      rest,
      head: `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function settled(outgoing: ClientRequest, accept: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => {
      reject(unusable("it closed the connection"));
    };
    outgoing.on("close", onClose);
    outgoing.on("upgrade", (answer, _socket, rest) => {
      const problem = mismatch(answer, accept);
      if (problem === undefined) resolve(rest);
      else reject(unusable(problem));
    });
    outgoing.on("information", ({ statusCode }) => {
      reject(unusable(`it answered status ${String(statusCode)} without an upgrade`));
    });
    outgoing.on("response", (answer) => {
      outgoing.off("close", onClose);
      readRefusal(answer).then(reject, (error: unknown) => {
        reject(unusable("its answer broke off", error));
      });
    });
    outgoing.on("error", (error) => {
      reject(
        ServiceError.isInstance(error)
          ? error
          : unusable("it closed the connection or sent something other than HTTP", error),
      );
    });
    outgoing.end();
  });
}
