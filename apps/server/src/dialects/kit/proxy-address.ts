import { badInput } from "@shoal/router";
import type { CreateProxy } from "@shoal/schemas";

export interface ProxyAddress {
  /** `http://user:password@host:port`, also without the scheme. */
  readonly server: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** Translates the address of a proxy. @param field - in the body. @throws {ServiceError} 400. */
export function toCustomProxy({ password, server, username }: ProxyAddress, field: string): CreateProxy {
  const url = URL.parse(/^\w+:\/\//.test(server) ? server : `http://${server}`);
  const [protocol] = /^(?:https?|socks5)(?=:$)/.exec(url?.protocol ?? "") ?? [];
  if (url === null || protocol === undefined || url.hostname === "")
    throw badInput(`body.${field}`, "is not an address of a proxy", { hint: "Write it as http://proxy.example:8080." });
  if (url.pathname.length > 1 || url.search !== "" || url.hash !== "")
    throw badInput(`body.${field}`, "must not have a path or a query");
  const user = username ?? decoded(url.username);
  const secret = password ?? decoded(url.password);
  return {
    type: "custom",
    protocol: protocol as "http" | "https" | "socks5",
    config: {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port) || { http: 80, https: 443, socks5: 1080 }[protocol as "http" | "https" | "socks5"],
      ...(user !== "" && { username: user }),
      ...(secret !== "" && { password: secret }),
    },
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
