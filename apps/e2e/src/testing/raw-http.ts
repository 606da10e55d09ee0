import { ErrorBody } from "@shoal/schemas";
import { waitLimitMs } from "@shoal/testkit";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";

/** A raw answer; `undefined` if the connection was closed without one. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** All received bytes, including further answers. */
  readonly text: string;
}

export interface RawRequest {
  readonly bytes: string | Uint8Array;
  readonly halfClose?: boolean;
  /** Timeout for the answer and the close in milliseconds; default 60,000. */
  readonly timeoutMs?: number;
}

export async function dial(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return socket;
}

/**
 * Reads until the service closes the connection, usually requested with `Connection: close`. @throws {Error} if it
 * neither answers nor closes.
 */
export async function sendRaw(
  baseUrl: string,
  { bytes, halfClose = false, timeoutMs = waitLimitMs }: RawRequest,
): Promise<RawAnswer | undefined> {
  const socket = await dial(baseUrl);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<boolean>((resolve) => {
    const timer = setTimeout(resolve, timeoutMs, false);
    const done = () => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.once("end", done);
    socket.once("close", done);
  });
  socket.write(bytes);
  if (halfClose) socket.end();
  const inTime = await closed;
  socket.destroy();
  const text = Buffer.concat(chunks).toString("latin1");
  if (!inTime) throw new Error(`The service kept the connection open after: ${JSON.stringify(text.slice(0, 300))}`);
  return parseAnswer(text);
}

export function parseAnswer(text: string): RawAnswer | undefined {
  if (text === "") return undefined;
  const split = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, split).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${statusLine} `)?.[1]);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const raw = text.slice(split + 4);
  const length = headers.get("content-length");
  const body =
    headers.get("transfer-encoding") === "chunked"
      ? unchunk(raw)
      : raw.slice(0, length === undefined ? undefined : Number(length));
  return { status, headers, body: Buffer.from(body, "latin1").toString("utf8"), text };
}

function unchunk(raw: string): string {
  let body = "";
  for (let at = 0; ;) {
    const end = raw.indexOf("\r\n", at);
    const size = Number.parseInt(raw.slice(at, end), 16);
    if (!(size > 0)) return body;
    body += raw.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

/** Errors have the error body and a request id. A closed connection also passes. */
export function expectWireShape(answer: RawAnswer | undefined, what: string): void {
  if (answer === undefined) return;
  expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toSatisfy(
    (status: number) => (status >= 200 && status < 500) || status === 501,
  );
  expect(answer.headers.get("x-request-id"), `${what}: ${answer.text.slice(0, 300)}`).toMatch(/\S/);
  if (answer.status < 400) return;
  expect(answer.headers.get("content-type"), what).toMatch(/^application\/json/);
  let body: unknown;
  try {
    body = JSON.parse(answer.body);
  } catch {
    expect.unreachable(`${what}: no JSON: ${answer.text.slice(0, 300)}`);
  }
  expect(ErrorBody.safeParse(body).success, `${what}: ${answer.body}`).toBe(true);
}
