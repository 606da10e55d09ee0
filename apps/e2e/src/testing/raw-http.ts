import { ErrorBody } from "@shoal/schemas";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";

/** What came back on a connection; `undefined` where it was closed without a word. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Everything, further answers on the same connection included. */
  readonly text: string;
}

/** How bytes are sent that no HTTP client would send. */
export interface RawRequest {
  readonly bytes: string | Uint8Array;
  /** Closes our direction once all is sent. */
  readonly halfClose?: boolean;
  /** How long the service may take to answer and close, in milliseconds; 60000 when absent. */
  readonly timeoutMs?: number;
}

/** Opens a connection. */
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
 * Sends bytes and reads until the service closes the connection, which the bytes should ask for with `Connection: close`.
 *
 * @throws {Error} when it neither answers nor closes.
 */
export async function sendRaw(baseUrl: string, { bytes, halfClose = false, timeoutMs = 60_000 }: RawRequest): Promise<RawAnswer | undefined> {
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

/** The first answer in a text. */
export function parseAnswer(text: string): RawAnswer | undefined {
  if (text === "") return undefined;
  const split = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, split).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${statusLine} `)?.[1]);
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]));
  const raw = text.slice(split + 4);
  const length = headers.get("content-length");
  const body = headers.get("transfer-encoding") === "chunked" ? unchunk(raw) : raw.slice(0, length === undefined ? undefined : Number(length));
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

/** Holds that an answer is one that the wire knows: an error has the error body and a request id. A connection that was closed without a word is fine, too. */
export function expectWireShape(answer: RawAnswer | undefined, what: string): void {
  if (answer === undefined) return;
  expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toSatisfy((status: number) => (status >= 200 && status < 500) || status === 501);
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
