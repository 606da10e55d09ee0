import { EgressFailure } from "./egress-failure.ts";
import { type EgressTarget, hostOf } from "./egress-route.ts";
import type { IncomingMessage } from "node:http";

/** Returns what a plain request to a proxy is for. @throws {EgressFailure} 400. */
export function targetOf({ url = "" }: IncomingMessage): EgressTarget {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:") throw new EgressFailure(400, "This is an HTTP proxy: send absolute http:// URLs, or CONNECT host:port.");
  return { hostname: parsed.hostname, port: parsed.port === "" ? 80 : Number(parsed.port) };
}

/** Returns what a CONNECT request is for. @throws {EgressFailure} 400. */
export function tunnelTargetOf({ url = "" }: IncomingMessage): EgressTarget {
  const [, hostname, port] = /^(\[[^\]]+\]|[^:/?#@\\]+):(\d{1,5})$/.exec(url) ?? [];
  if (hostname === undefined || Number(port) < 1 || Number(port) > 65_535) throw new EgressFailure(400, "CONNECT needs host:port.");
  return { hostname, port: Number(port) };
}

/** `host:port` of a plain request; empty when it has none. */
export function targetText(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "" : hostOf({ hostname: parsed.hostname, port: parsed.port === "" ? 80 : Number(parsed.port) });
}
