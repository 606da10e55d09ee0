import { canonicalName } from "@shoal/primitives/hosts";
import { EgressFailure } from "./failure.ts";
import { type EgressTarget, hostOf } from "./route.ts";
import type { IncomingMessage } from "node:http";

export function targetOf({ url = "" }: IncomingMessage): EgressTarget {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:")
    throw new EgressFailure(400, "This is an HTTP proxy: send absolute http:// URLs, or CONNECT host:port.");
  return { hostname: parsed.hostname, port: parsed.port === "" ? 80 : Number(parsed.port) };
}

export function tunnelTargetOf({ url = "" }: IncomingMessage): EgressTarget {
  const [, hostname, port] = /^(\[[^\]]+\]|[^:/?#@\\]+):(\d{1,5})$/.exec(url) ?? [];
  if (hostname === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new EgressFailure(400, "CONNECT needs host:port.");
  // A proxy must get the name that the rules judged, not another notation of it.
  const name = canonicalName(hostname) ?? hostname;
  return { hostname: name.includes(":") && !name.startsWith("[") ? `[${name}]` : name, port: Number(port) };
}

/** Returns `host:port`; empty if invalid. */
export function targetText(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null
    ? ""
    : hostOf({ hostname: parsed.hostname, port: parsed.port === "" ? 80 : Number(parsed.port) });
}
