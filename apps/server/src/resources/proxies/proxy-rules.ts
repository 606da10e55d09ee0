import type { CreateProxy } from "@shoal/schemas";
import { isIP } from "node:net";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";
import { checkBundle } from "./ca-bundle.ts";

/** In bytes; limit of SOCKS5. */
const maxSocksBytes = 255;

const hostName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;
const control = /\p{Cc}/u;

/** ASCII, without brackets; `undefined` for anything but a name or an address. */
function toHost(text: string): string | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  // `isIP` accepts a zone (fe80::1%lo), which is invalid in URLs.
  if (bare.includes("%")) return undefined;
  if (isIP(bare) !== 0) return bare;
  const ascii = /[/?#@\\:%\s]/.test(bare) ? undefined : URL.parse(`http://${bare}/`)?.hostname;
  return ascii !== undefined && hostName.test(ascii) ? ascii : undefined;
}

function toBypassHost(text: string, index: number): string {
  const bare = text.startsWith("*.") ? text.slice(2) : text;
  const host = toHost(bare);
  if (host === undefined || isIP(host) !== 0 || !/[^0-9.]/.test(host)) {
    throw badField(`bypass_hosts[${String(index)}]`, `${JSON.stringify(text)} is not a host name`, {
      hint: "Write a full name (intranet.example) or a wildcard (*.example.com), without protocol, port, path or address.",
    });
  }
  return text.startsWith("*.") ? `*.${host}` : host;
}

/** Secrets are stored separately. */
export interface NewProxy {
  readonly bypassHosts: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly password: string | undefined;
  readonly caBundle: string | undefined;
}

/** Checks the rules that the schema does not express. @throws {ServiceError} 400 naming the field. */
export function checkNewProxy({
  type,
  protocol,
  config = {},
  bypass_hosts = [],
}: z.output<typeof CreateProxy>): NewProxy {
  const bypassHosts = bypass_hosts.map(toBypassHost);
  for (const [key, value] of Object.entries(config)) {
    if (typeof value === "string" && key !== "ca_bundle" && control.test(value))
      throw badField(`config.${key}`, "must not contain control characters");
  }
  if (type !== "custom" || !("host" in config))
    return { bypassHosts, config: { ...config }, password: undefined, caBundle: undefined };
  const { port, username, password, ca_bundle } = config;
  const caBundle = ca_bundle === undefined || ca_bundle === "" ? undefined : checkBundle(ca_bundle);
  const host = toHost(config.host);
  if (host === undefined)
    throw badField("config.host", "is neither a host name nor an address", {
      hint: "Write it without a zone (%eth0), and without protocol and port, which have separate fields.",
    });
  if (protocol === "socks5") {
    for (const [key, value] of Object.entries({ username, password })) {
      if (value !== undefined && Buffer.byteLength(value) > maxSocksBytes)
        throw badField(`config.${key}`, `expected at most ${String(maxSocksBytes)} bytes, the limit of SOCKS5`);
    }
  } else if (username?.includes(":") === true)
    throw badField("config.username", "must not contain a colon, which separates it from the password in HTTP");
  return {
    bypassHosts,
    config: { host, port, ...(username !== undefined && { username }) },
    password: password === "" ? undefined : password,
    caBundle,
  };
}
