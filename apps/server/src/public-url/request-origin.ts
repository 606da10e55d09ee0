import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { addressMatcher, plainAddress } from "./trusted-proxies.ts";

/** What a request tells of where it comes from and where it was sent to. */
export type RequestHead = Pick<IncomingMessage, "headers" | "method" | "socket" | "url">;

/** Where requests come from and where they were sent to, with what trusted proxies say of it. */
export interface RequestOrigins {
  /** The address under which the client reached the service, without a slash at its end: `https://shoal.example/api`. */
  baseUrlOf(request: RequestHead): string;
  /** The host and port that the client asked, in lower case; empty where none is valid. */
  hostOf(request: RequestHead): string;
  /** The client's address: the last one on the way that no trusted proxy has. Empty when the connection is gone. */
  clientIpOf(request: RequestHead): string;
  /** The request's path and query without the prefix that a proxy has put before it, or left there. */
  pathInside(request: RequestHead): string;
  /** Whether {@link pathInside} can be anything but the path as it came. */
  readonly hasPrefix: boolean;
}

export interface OriginOptions {
  /** Where clients reach the service, path prefix and all; each request tells when absent. */
  readonly publicUrl: string | undefined;
  /** Addresses and CIDR ranges of proxies whose headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Which headers they set. The other kind is not looked at, for a proxy hands it on as its client sent it. */
  readonly headers: "x-forwarded" | "forwarded";
}

/** What the proxies on the way say. */
interface Said {
  /** In the order of the hops, the nearest one last. */
  readonly clients: readonly string[];
  readonly proto: string | undefined;
  readonly host: string | undefined;
  readonly prefix: string | undefined;
}

/** More than any chain of proxies has; what lies before is not looked at. */
const maxHops = 32;
const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;
const prefixPattern = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+\/?$/;

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

/** What the nearest proxy wrote: those before it may be the client's own invention. */
function lastOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = textOf(headers, name);
  return value === undefined ? undefined : value.slice(value.lastIndexOf(",") + 1).trim();
}

/** The address in a hop's name: `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`; `undefined` for what hides it. */
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

/** RFC 7239; the prefix has no place in it. */
function saidByForwarded(headers: IncomingHttpHeaders): Said {
  const value = textOf(headers, "forwarded") ?? "";
  const elements = (value.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+/g) ?? []).slice(-maxHops).map((element) => {
    const pairs = new Map<string, string>();
    for (const [, name = "", quoted, token = ""] of element.matchAll(/([\w-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;\s"]*))/g)) {
      pairs.set(name.toLowerCase(), quoted === undefined ? token : quoted.replaceAll(/\\(.)/g, "$1"));
    }
    return pairs;
  });
  const nearest = elements.at(-1);
  return { clients: elements.map((pairs) => pairs.get("for") ?? ""), proto: nearest?.get("proto"), host: nearest?.get("host"), prefix: undefined };
}

function withoutEndSlash(text: string): string {
  return text.replace(/\/+$/, "");
}

export function createRequestOrigins({ publicUrl, trustedProxies, headers: kind }: OriginOptions): RequestOrigins {
  const isTrusted = addressMatcher(trustedProxies);
  const trustsAny = trustedProxies.length > 0;
  const fixed = publicUrl === undefined ? undefined : withoutEndSlash(publicUrl);
  const fixedPrefix = fixed === undefined ? "" : withoutEndSlash(new URL(fixed).pathname);

  const peerOf = ({ socket }: RequestHead) => plainAddress(socket.remoteAddress ?? "");
  const said = (headers: IncomingHttpHeaders) => (kind === "forwarded" ? saidByForwarded(headers) : saidByXForwarded(headers));
  const saidTo = (request: RequestHead) => (trustsAny && isTrusted(peerOf(request)) ? said(request.headers) : undefined);

  function prefixOf(request: RequestHead): string {
    if (fixed !== undefined) return fixedPrefix;
    const prefix = saidTo(request)?.prefix;
    return prefix !== undefined && prefixPattern.test(prefix) ? withoutEndSlash(prefix) : "";
  }

  return {
    hasPrefix: fixed === undefined ? trustsAny && kind === "x-forwarded" : fixedPrefix !== "",
    baseUrlOf(request) {
      if (fixed !== undefined) return fixed;
      const { host: asked = "" } = request.headers;
      const forwarded = saidTo(request);
      const proto = forwarded?.proto?.toLowerCase();
      const host = [forwarded?.host ?? "", asked, "127.0.0.1"].find((candidate) => hostPattern.test(candidate)) ?? "";
      return `${proto === "https" || proto === "wss" ? "https" : "http"}://${host}${prefixOf(request)}`;
    },
    hostOf(request) {
      const { host: asked = "" } = request.headers;
      return [saidTo(request)?.host ?? "", asked].find((candidate) => hostPattern.test(candidate))?.toLowerCase() ?? "";
    },
    clientIpOf(request) {
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
      const { url = "/" } = request;
      const prefix = prefixOf(request);
      if (prefix === "" || !url.startsWith(prefix)) return url;
      const rest = url.slice(prefix.length);
      if (rest === "" || rest.startsWith("?")) return `/${rest}`;
      return rest.startsWith("/") ? rest : url;
    },
  };
}
