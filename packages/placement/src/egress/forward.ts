import { joinChunks } from "@shoal/primitives/node";
import type { AddedHeader } from "../interface/egress.ts";
import type { AnswerHead, RecordedExchange } from "../interface/exchanges.ts";
import { clientHeader, type EgressClient, type EgressWay, type RoutedRequest } from "./client.ts";
import { connectionFailure, EgressFailure } from "./failure.ts";
import { BodyDigest } from "./exchanges/body-digest.ts";
import { endsAtHttpProxy, hostOf, refusedBy, type EgressRoute } from "./route.ts";
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from "node:http";

/** Hop-by-hop headers (RFC 9110, 7.6.1) and those between client and gateway. */
const perConnection: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  clientHeader,
]);

/** As Chromium accepts them; Node's default is 16 KiB. */
export const maxHeaderBytes = 256 * 2 ** 10;
export const longHead = `The head of a request is larger than ${String(maxHeaderBytes)} bytes. Shorten its address or cookies.`;

/** Where a request goes, and what the gateway adds to it. */
export interface Forwarding {
  readonly client: EgressClient;
  readonly route: EgressRoute;
  readonly way: EgressWay;
  /** Replaces the `Host` header. */
  readonly host: string;
  readonly path: string;
  /** Replace headers of the same name. */
  readonly added: readonly AddedHeader[];
  /** The body, if it was read already. */
  readonly body?: Buffer | undefined;
  readonly recorded?: RecordedExchange | undefined;
}

/** For a request with an absolute `http:` URL. */
export function plainForwarding(
  { url: address }: IncomingMessage,
  { client, route }: Pick<Forwarding, "client" | "route">,
  added: readonly AddedHeader[] = [],
): Forwarding {
  const url = new URL(address ?? "");
  const path = `${url.pathname}${url.search}`;
  // RFC 9112, 3.2.2: the host of the URL, which was checked, replaces the header.
  return {
    ...{ client, route, added, way: "requests", host: url.host },
    path: endsAtHttpProxy(route) ? `http://${url.host}${path}` : path,
  };
}

/** Resolves when the answer is written or a side closed. @throws {EgressFailure} only before the answer begins. */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  forwarding: Forwarding,
): Promise<void> {
  const { recorded, route, way } = forwarding;
  const digest = recorded && new BodyDigest(request.headers["content-type"]);
  if (digest !== undefined)
    request.on("data", (chunk: Buffer) => {
      digest.add(chunk);
    });
  try {
    const answer = await send(request, response, forwarding);
    // The browser never gets the 407 of a site.
    if (recorded !== undefined && answer.statusCode !== 407)
      recordAnswer(answer, response, recorded, () => digest?.result() ?? "");
    await answerClient(answer, response, { route, way });
  } catch (error) {
    // The browser repeats the request with the credentials of the proxy.
    if (error instanceof EgressFailure && error.proxyAuthenticate !== undefined) recorded?.drop();
    else recorded?.end(response.closed ? "open" : "broken", digest?.result() ?? "");
    throw error;
  }
}

/** Call it before the answer is read. */
export function recordAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  recorded: RecordedExchange,
  digest: () => string,
): void {
  recorded.head(headOf(answer));
  answer.on("data", (chunk: Buffer) => {
    recorded.data(chunk, 0);
  });
  const end = (): void => {
    // The side that closed first has closed already.
    recorded.end(answer.readableEnded ? "complete" : response.destroyed ? "open" : "broken", digest());
  };
  answer.once("error", end);
  answer.once("close", end);
}

export function headOf({ rawHeaders, statusCode = 0, statusMessage = "" }: IncomingMessage): AnswerHead {
  return { status: statusCode, statusText: statusMessage, headers: endToEnd(rawHeaders) };
}

/** Passes an answer on. @throws {EgressFailure} before the answer begins. */
export async function answerClient(
  answer: IncomingMessage,
  response: ServerResponse,
  { route, way }: Pick<Forwarding, "route" | "way">,
): Promise<void> {
  const hop = route.hops.at(-1);
  if (answer.statusCode === 407) {
    answer.destroy();
    // A site's 407 is invalid: the browser would send the site the credentials of a proxy.
    if (hop === undefined || way !== "requests" || !endsAtHttpProxy(route))
      throw new EgressFailure(599, `${hostOf(route.target)} answered 407, which only a proxy may send.`);
    throw refusedBy(hop.proxy, answer, hop.asksClient);
  }
  const status = answer.statusCode ?? 0;
  if (status < 100 || status > 999) {
    answer.destroy();
    throw new EgressFailure(592, `${hostOf(route.target)} answered with the invalid status ${String(status)}.`);
  }
  try {
    response.writeHead(status, answer.statusMessage, endToEnd(answer.rawHeaders));
  } catch {
    response.destroy();
    return;
  }
  await pass(answer, response);
}

/** Closes both sides when one closes. `pipeline` would create an error with a stack for each answer, also in the end. */
function pass(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    answer.on("error", () => response.destroy());
    answer.once("close", () => {
      if (!answer.readableEnded) response.destroy();
    });
    response.on("error", () => response.destroy());
    // `send` ends the request with the response.
    response.once("close", resolve);
    if (response.closed) resolve();
    answer.pipe(response);
  });
}

function send(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): Promise<IncomingMessage> {
  const { hops, target } = forwarding.route;
  const hop = forwarding.way === "requests" && endsAtHttpProxy(forwarding.route) ? hops.at(-1) : undefined;
  const headers: string[] = [];
  if (request.headers["transfer-encoding"] !== undefined) headers.push("transfer-encoding", "chunked");
  const credentials = hop?.authorization ?? hop?.proxy.authorization;
  if (credentials !== undefined) headers.push("proxy-authorization", credentials);
  return new Promise((resolve, reject) => {
    const outgoing = outgoingRequest(request, forwarding, headers);
    outgoing.once("response", (answer) => {
      joinChunks(answer);
      resolve(answer);
    });
    outgoing.on("error", (error) => {
      reject(connectionFailure(error, hostOf(target)));
    });
    response.once("close", () => {
      outgoing.destroy();
    });
    // `pipeline` would destroy the request's socket, on which a failure is sent.
    if (forwarding.body === undefined) request.pipe(outgoing);
    else outgoing.end(forwarding.body);
  });
}

/** @param headers - of the connection to the next server. */
export function outgoingRequest(
  request: IncomingMessage,
  { added, client, host, path, route, way }: Forwarding,
  headers: readonly string[],
): ClientRequest {
  const names = new Set(added.map(([name]) => name.toLowerCase()));
  const options: RoutedRequest & { readonly insecureHTTPParser: boolean } = {
    route,
    way,
    path,
    agent: client.agent,
    host: route.target.hostname,
    port: route.target.port,
    method: request.method,
    headers: [...endToEnd(request.rawHeaders, { host, names }), ...headers, ...added.flat()],
    setHost: false,
    // Sites send invalid header values and many cookies, and browsers accept them.
    insecureHTTPParser: true,
    maxHeaderSize: maxHeaderBytes,
  };
  return httpRequest(options);
}

/**
 * Also omits headers that Node refuses to send. @param replaced.host - of the `Host` header.
 * @param replaced.names - omitted, in lower case.
 */
export function endToEnd(
  rawHeaders: readonly string[],
  { host, names }: { readonly host?: string; readonly names?: ReadonlySet<string> } = {},
): string[] {
  const kept: string[] = [];
  let hasHost = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const known = name.toLowerCase();
    if (
      perConnection.has(known) ||
      names?.has(known) === true ||
      (known === "host" && hasHost) ||
      !isSendable(name, value)
    )
      continue;
    hasHost ||= known === "host";
    kept.push(name, known === "host" ? (host ?? value) : value);
  }
  return kept;
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
