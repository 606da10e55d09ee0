export interface ContextProxy {
  /** `http://`, `https://` or `socks5://`. */
  readonly url: string;
  /** Hosts that bypass it: full names, or `*.example.com`. */
  readonly bypassHosts: readonly string[];
}

/** Opens a port of 127.0.0.1 whose connections use a proxy. */
export type OpenContextProxy = (proxy: ContextProxy) => Promise<number>;

const maxCharacters = 2_000;
const hostPattern = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/i;

/** `proxyServer` and `proxyBypassList`, as Playwright and Puppeteer write them. Returns a problem as a sentence. */
export function readContextProxy(
  server: unknown,
  bypassList: unknown,
): ContextProxy | { readonly problem: string } | undefined {
  if (server === undefined || server === "" || server === "direct://") return undefined;
  const url = typeof server === "string" && server.length <= maxCharacters ? readServer(server) : undefined;
  if (url === undefined)
    return {
      problem:
        "proxyServer: expected one proxy, such as http://host:port, https://host:port or socks5://host:port. To give a whole session a proxy, create it with proxies.create and name it in browsers.create.",
    };
  const bypassHosts: string[] = [];
  for (const rule of typeof bypassList === "string" ? bypassList.split(/[,;]/) : []) {
    const host = rule.trim().replace(/^\./, "*.");
    // Connections to 127.0.0.1 always use this proxy.
    if (host === "" || host === "<-loopback>") continue;
    if (!hostPattern.test(host) || bypassHosts.length >= 100)
      return {
        problem: `proxyBypassList: ${JSON.stringify(rule.slice(0, 100))} is not supported. Write up to 100 host names, or *.example.com for all below one.`,
      };
    bypassHosts.push(host.toLowerCase());
  }
  return { url, bypassHosts };
}

/** Returns `undefined` for lists by scheme, PAC files and other protocols. */
function readServer(server: string): string | undefined {
  const [, scheme = "http", rest = ""] = /^(?:([a-z0-9]+):\/\/)?([^/,;=\s]+)\/?$/i.exec(server) ?? [];
  const protocol = { http: "http", https: "https", socks5: "socks5", socks: "socks5" }[scheme.toLowerCase()];
  const url = protocol === undefined ? null : URL.parse(`${protocol}://${rest}`);
  return url === null || url.hostname === "" ? undefined : url.href.replace(/\/$/, "");
}
