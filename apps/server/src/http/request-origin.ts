import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { addressMatcher, plainAddress } from "../config/trusted-proxies.ts";
import type { OwnRequests } from "./auth/own-requests.ts";
import { pathOfSession } from "./auth/session-path.ts";

export type RequestHead = Pick<IncomingMessage, "headers" | "method" | "socket" | "url">;

export interface RequestOrigins {
  /** As the client sees it, without a trailing slash: `https://shoal.example/api`. */
  baseUrlOf(request: RequestHead): string;
  /** For an app, whose base URL leads through its box: the address of the service for people. */
  viewerUrlOf(request: RequestHead): string | undefined;
  /** Host and port in lower case; empty if invalid. */
  hostOf(request: RequestHead): string;
  /** The nearest address that is not a trusted proxy, or `app ID` for an app; empty when the connection is closed. */
  clientIpOf(request: RequestHead): string;
  /** The path and query of the operation, without the prefix of a proxy or of `publicUrl`. */
  pathInside(request: RequestHead): string;
}

export interface OriginOptions {
  /** With its path prefix; taken from each request when absent. */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  /** Ignores the other kind, because a proxy passes it on unchanged from its client. */
  readonly headers: "x-forwarded" | "forwarded";
  /** The deployment of a connection from an app's box; `publicUrl` does not apply to these. */
  readonly deploymentOf?: (socket: RequestHead["socket"]) => string | undefined;
  /** The address that the service listens at. */
  readonly localUrl?: () => string | undefined;
  readonly ownRequests?: Pick<OwnRequests, "read">;
}

interface Said {
  /** Nearest hop last. */
  readonly clients: readonly string[];
  readonly proto: string | undefined;
  readonly host: string | undefined;
  readonly prefix: string | undefined;
}

/** Longer than any chain of proxies; earlier hops are ignored. */
const maxHops = 32;
const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;
/** A host that only looks like one, such as `256.1.1.1` or `shoal.example:99999`, makes no URL. */
const isHost = (text: string): boolean => hostPattern.test(text) && URL.canParse(`http://${text}`);
const prefixPattern = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+\/?$/;

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

/** Only the nearest proxy is trusted; the client may have forged earlier values. */
function lastOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = textOf(headers, name);
  return value === undefined ? undefined : value.slice(value.lastIndexOf(",") + 1).trim();
}

/** Accepts `192.0.2.1:4711` and `[2001:db8::1]:4711`; returns `undefined` for an obfuscated address. */
function addressIn(hop: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
  const address = plainAddress(bare);
  return isIP(address) === 0 ? undefined : address;
}

function saidByXForwarded(headers: IncomingHttpHeaders): Said {
  return {
    clients: (textOf(headers, "x-forwarded-for") ?? "")
      .split(",")
      .map((hop) => hop.trim())
      .slice(-maxHops),
    proto: lastOf(headers, "x-forwarded-proto"),
    host: lastOf(headers, "x-forwarded-host"),
    prefix: lastOf(headers, "x-forwarded-prefix"),
  };
}

/** RFC 7239, which has no prefix. */
function saidByForwarded(headers: IncomingHttpHeaders): Said {
  const elements = splitFromEnd(textOf(headers, "forwarded") ?? "", ",", maxHops).map(pairsIn);
  const nearest = elements.at(-1);
  return {
    clients: elements.map((pairs) => pairs.get("for") ?? ""),
    proto: nearest?.get("proto"),
    host: nearest?.get("host"),
    prefix: undefined,
  };
}

/** More have no meaning. */
const maxPairs = 32;

function pairsIn(element: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const pair of splitFromEnd(element, ";", maxPairs)) {
    const equals = pair.indexOf("=");
    const [name, value] = [pair.slice(0, equals).trim().toLowerCase(), pair.slice(equals + 1).trim()];
    const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
    if (equals > 0) pairs.set(name, isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value);
  }
  return pairs;
}

/**
 * Splits outside of quotes, and keeps the last parts. From the end, where trusted proxies append: a quote that the client
 * left open does not join its part with theirs.
 */
function splitFromEnd(text: string, separator: "," | ";", maxParts: number): string[] {
  const parts: string[] = [];
  let end = text.length;
  let isQuoted = false;
  for (let at = text.length - 1; at >= 0 && parts.length < maxParts; at -= 1) {
    if (text[at] === '"' && !(isQuoted && isEscaped(text, at))) isQuoted = !isQuoted;
    if (isQuoted || text[at] !== separator) continue;
    parts.unshift(text.slice(at + 1, end));
    end = at;
  }
  return parts.length < maxParts ? [text.slice(0, end), ...parts] : parts;
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

function withoutEndSlash(text: string): string {
  return text.replace(/(?<!\/)\/+$/, "");
}

function withoutPrefix(url: string, prefix: string): string {
  if (prefix === "" || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

export function createRequestOrigins({
  publicUrl,
  trustedProxies,
  headers: kind,
  deploymentOf,
  localUrl,
  ownRequests,
}: OriginOptions): RequestOrigins {
  const isTrusted = addressMatcher(trustedProxies);
  const trustsAny = trustedProxies.length > 0;
  const fixed = publicUrl === undefined ? undefined : withoutEndSlash(publicUrl);
  const fixedPrefix = fixed === undefined ? "" : withoutEndSlash(new URL(fixed).pathname);

  const ownOf = ({ headers }: RequestHead) => ownRequests?.read(headers);
  const isFromBox = ({ socket }: RequestHead) => deploymentOf?.(socket) !== undefined;
  const peerOf = ({ socket }: RequestHead) => plainAddress(socket.remoteAddress ?? "");
  const said = (headers: IncomingHttpHeaders) =>
    kind === "forwarded" ? saidByForwarded(headers) : saidByXForwarded(headers);
  const saidTo = (request: RequestHead) =>
    trustsAny && !isFromBox(request) && isTrusted(peerOf(request)) ? said(request.headers) : undefined;

  function prefixOf(request: RequestHead): string {
    if (isFromBox(request)) return "";
    if (fixed !== undefined) return fixedPrefix;
    const prefix = saidTo(request)?.prefix;
    return prefix !== undefined && prefixPattern.test(prefix) ? withoutEndSlash(prefix) : "";
  }

  function baseUrlOf(request: RequestHead): string {
    const own = ownOf(request);
    if (own !== undefined) return own.baseUrl;
    if (fixed !== undefined && !isFromBox(request)) return fixed;
    const { host: asked = "" } = request.headers;
    const forwarded = saidTo(request);
    const proto = forwarded?.proto?.toLowerCase();
    const host = [forwarded?.host ?? "", asked, "127.0.0.1"].find(isHost) ?? "";
    return `${proto === "https" || proto === "wss" ? "https" : "http"}://${host}${prefixOf(request)}`;
  }

  return {
    baseUrlOf,
    viewerUrlOf: (request) => (isFromBox(request) ? (fixed ?? localUrl?.()) : ownOf(request)?.viewerUrl),
    hostOf(request) {
      const { host: asked = "" } = request.headers;
      return [saidTo(request)?.host ?? "", asked].find(isHost)?.toLowerCase() ?? "";
    },
    clientIpOf(request) {
      const own = ownOf(request);
      if (own !== undefined) return own.clientIp;
      const deployment = deploymentOf?.(request.socket);
      if (deployment !== undefined) return `app ${deployment}`;
      let client = peerOf(request);
      if (!trustsAny || !isTrusted(client)) return client;
      for (const hop of said(request.headers).clients.toReversed()) {
        const address = addressIn(hop);
        if (address === undefined) break;
        client = address;
        if (!isTrusted(client)) break;
      }
      return client;
    },
    pathInside(request) {
      return pathOfSession(withoutPrefix(request.url ?? "/", prefixOf(request)));
    },
  };
}
