import { ServiceError } from "@shoal/router";
import type { CreateProxy } from "@shoal/schemas";
import { toCustomProxy } from "../kit/proxy-address.ts";

type Fields = Readonly<Record<string, unknown>>;

const field = "proxy";

function refusal(problem: string, hint: string): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field, hint });
}

const textIn = (fields: Fields, name: string): string => {
  const value = fields[name] ?? "";
  if (typeof value !== "string") throw refusal(`expected a string in ${name}`, "Write host:port.");
  return value.trim();
};

/**
 * Translates the capability `proxy`. It belongs to the session, and is not stored.
 * @throws {ServiceError} 400 for a proxy that would send traffic another way than requested.
 */
export function toProxy(fields: Fields): CreateProxy | undefined {
  const type = textIn(fields, "proxyType").toLowerCase();
  if (["", "direct", "system"].includes(type)) return undefined;
  if (type !== "manual")
    throw refusal(`the type ${JSON.stringify(type.slice(0, 20))} is not possible`, "Name the proxy: proxyType manual.");
  const web = webProxy(textIn(fields, "httpProxy"), textIn(fields, "sslProxy"));
  const socks = textIn(fields, "socksProxy");
  if (web !== "" && socks !== "")
    throw refusal("a session has one proxy", "Omit socksProxy, or httpProxy and sslProxy.");
  const bypass = bypassHosts(fields.noProxy);
  const found =
    socks === "" ? withScheme(web, "http") : { ...socksProxy(fields), server: withScheme(socks, "socks5").server };
  if (found.server === "") throw refusal("it names no proxy", "Write httpProxy and sslProxy, or socksProxy.");
  return { ...toCustomProxy(found, field), ...(bypass.length > 0 && { bypass_hosts: [...bypass] }) };
}

/** The session would send pages over the other protocol another way than Chromium of one machine. */
function webProxy(http: string, ssl: string): string {
  if (http !== ssl)
    throw refusal(
      http === "" || ssl === "" ? "pages over the other protocol would leave without it" : "a session has one proxy",
      "Set httpProxy and sslProxy to the same proxy.",
    );
  return http;
}

function withScheme(server: string, scheme: string): { readonly server: string } {
  return { server: server === "" || /^\w+:\/\//.test(server) ? server : `${scheme}://${server}` };
}

function socksProxy(fields: Fields): { readonly username?: string; readonly password?: string } {
  if (![undefined, null, 5].includes(fields.socksVersion as number | null | undefined))
    throw refusal("socksVersion must be 5", "Version 4 is not served.");
  const username = textIn(fields, "socksUsername");
  const password = textIn(fields, "socksPassword");
  return { ...(username !== "" && { username }), ...(password !== "" && { password }) };
}

/** Clients send a list, older ones a text with commas. A name is also for the names below it if it begins with a dot. */
function bypassHosts(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [5];
  return list
    .map((host) => {
      if (typeof host !== "string") throw refusal("expected a list of hosts in noProxy", "Write example.com.");
      return host.trim();
    })
    .filter((host) => host !== "")
    .flatMap((host) => (host.startsWith(".") ? [host.slice(1), `*${host}`] : [host]));
}

/** Translates `--proxy-server` and `--proxy-bypass-list` of Chromium. @throws {ServiceError} 400. */
export function toSwitchProxy(server: string, bypass: string | undefined): CreateProxy {
  const list = bypass?.split(/[;,]/) ?? [];
  if (server.includes("=") || server.includes(";") || server.includes(","))
    throw refusal("a session has one proxy for every address", "Write --proxy-server=http://proxy.example:3128.");
  return {
    ...toCustomProxy({ server: server.trim() }, field),
    ...(list.length > 0 && { bypass_hosts: [...bypassHosts(list)] }),
  };
}
