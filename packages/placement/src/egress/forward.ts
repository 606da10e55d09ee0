import type { EgressClient, RoutedRequest } from "./client.ts";
import { clientHeader } from "./client.ts";
import { connectionFailure, EgressFailure } from "./failure.ts";
import { endsAtHttpProxy, hostOf, refusedBy, type EgressRoute } from "./route.ts";
import {
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

/** Resolves when the answer is written or a side closed. @throws {EgressFailure} only before the answer begins. */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { client, route }: { readonly client: EgressClient; readonly route: EgressRoute },
): Promise<void> {
  const answer = await send(request, response, { client, route });
  const hop = route.hops.at(-1);
  if (answer.statusCode === 407) {
    answer.destroy();
    // A site's 407 is invalid: the browser would send the site the credentials of a proxy.
    if (hop === undefined || !endsAtHttpProxy(route))
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

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { client, route }: { readonly client: EgressClient; readonly route: EgressRoute },
): Promise<IncomingMessage> {
  const { target, hops } = route;
  const url = new URL(request.url ?? "");
  const hop = endsAtHttpProxy(route) ? hops.at(-1) : undefined;
  // RFC 9112, 3.2.2: the host of the URL, which was checked, replaces the header.
  const headers = endToEnd(request.rawHeaders, url.host);
  if (request.headers["transfer-encoding"] !== undefined) headers.push("transfer-encoding", "chunked");
  const credentials = hop?.authorization ?? hop?.proxy.authorization;
  if (credentials !== undefined) headers.push("proxy-authorization", credentials);
  const options: RoutedRequest & { readonly insecureHTTPParser: boolean } = {
    route,
    agent: client.agent,
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: hop === undefined ? `${url.pathname}${url.search}` : `http://${url.host}${url.pathname}${url.search}`,
    headers,
    setHost: false,
    // Sites send invalid header values, and browsers accept them.
    insecureHTTPParser: true,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(options);
    outgoing.once("response", resolve);
    outgoing.on("error", (error) => {
      reject(connectionFailure(error, hostOf(target)));
    });
    response.once("close", () => {
      outgoing.destroy();
    });
    // `pipeline` would destroy the request's socket, on which a failure is sent.
    request.pipe(outgoing);
  });
}

/** Also omits headers that Node refuses to send. @param host - replaces the value of `Host` */
function endToEnd(rawHeaders: readonly string[], host?: string): string[] {
  const kept: string[] = [];
  let hasHost = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const known = name.toLowerCase();
    if (perConnection.has(known) || (known === "host" && hasHost) || !isSendable(name, value)) continue;
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
