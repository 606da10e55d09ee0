/** `scheme://host/path`: http, https or `*`; a host, `*.host` or `*`; a port if wanted; a path with `*` for any text. */
const form = /^(\*|https?):\/\/(\*|(?:\*\.)?[^\s/*:?#@[\]]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?(\/[^\s#]*)$/i;

interface UrlPattern {
  readonly scheme: string;
  readonly host: string;
  readonly port: string | undefined;
  readonly path: string;
}

function readPattern(text: string): UrlPattern | undefined {
  const [, scheme = "", host = "", port, path = ""] = form.exec(text) ?? [];
  return scheme === "" ? undefined : { scheme: scheme.toLowerCase(), host: host.toLowerCase(), port, path };
}

export const isUrlPattern = (text: string): boolean => readPattern(text) !== undefined;

/** Without a regular expression, whose time a pattern could choose. */
function matchesText(pattern: string, text: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

function matchesHost(pattern: string, host: string): boolean {
  if (pattern === "*" || pattern === host) return true;
  return pattern.startsWith("*.") && (host === pattern.slice(2) || host.endsWith(pattern.slice(1)));
}

/** Whether a pattern names an address. `*.example.com` also names `example.com`; without a port, every port matches. */
export function matchesUrl(pattern: string, address: string): boolean {
  const read = readPattern(pattern);
  const url = URL.parse(address);
  if (read === undefined || url === null || !/^https?:$/.test(url.protocol)) return false;
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return (
    (read.scheme === "*" || `${read.scheme}:` === url.protocol) &&
    matchesHost(read.host, url.hostname) &&
    (read.port === undefined || Number(read.port) === Number(port)) &&
    matchesText(read.path, `${url.pathname}${url.search}`)
  );
}
