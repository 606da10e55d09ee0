/** `scheme://host/path`: http, https or `*`; a host, `*.host` or `*`; a port if wanted; a path with `*` for any text. */
const form = /^(\*|https?):\/\/(\*|(?:\*\.)?[^\s/*:?#@[\]]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?(\/[^\s#]*)$/i;

/** In the spelling of addresses. */
export interface UrlPattern {
  readonly scheme: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly path: string;
}

export interface PageAddress {
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

const maxPort = 65_535;
/** Longer addresses match no pattern. */
const maxAddressCharacters = 8_000;

/** Returns `undefined` for a text that is not a pattern, or that no address can match. */
export function readPattern(text: string): UrlPattern | undefined {
  const [, scheme = "", host = "", port, path = ""] = form.exec(text) ?? [];
  if (scheme === "" || (port !== undefined && (Number(port) < 1 || Number(port) > maxPort))) return undefined;
  const shownHost = hostAsInAddresses(host);
  const shownPath = pathAsInAddresses(path);
  if (shownHost === undefined || shownPath === undefined) return undefined;
  return {
    scheme: scheme.toLowerCase(),
    host: shownHost,
    port: port === undefined ? undefined : Number(port),
    path: shownPath,
  };
}

/** Addresses have hosts of other scripts in ASCII, and numbers of hosts in one spelling. */
function hostAsInAddresses(host: string): string | undefined {
  if (host === "*") return host;
  const start = host.startsWith("*.") ? "*." : "";
  const name = URL.parse(`http://${host.slice(start.length)}/`)?.hostname;
  return name === undefined || name === "" ? undefined : start + name;
}

/** Addresses have no `..`, no `.` and no `\\` in their paths. */
function pathAsInAddresses(path: string): string | undefined {
  const url = URL.parse(`http://host${path}`);
  if (url === null) return undefined;
  const slashes = (text: string): number => text.split("?", 1)[0]?.split("/").length ?? 0;
  // `search` leaves a `?` out that nothing follows, as it does in addresses.
  return slashes(path) === slashes(url.pathname) ? `${url.pathname}${url.search}` : undefined;
}

export const isUrlPattern = (text: string): boolean => readPattern(text) !== undefined;

/** Returns `undefined` for an address that no pattern names. */
export function readAddress(text: string): PageAddress | undefined {
  const url = text.length > maxAddressCharacters ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const scheme = url.protocol.slice(0, -1);
  const port = url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port);
  return { scheme, host: url.hostname, port, path: `${url.pathname}${url.search}` };
}

/** Lengths of the longest proper starts of a part that also end at each of its places. */
function bordersOf(part: string): Uint16Array {
  const borders = new Uint16Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(at) === part.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}

/** Like `indexOf`, whose time some texts make the product of both lengths (Knuth, Morris and Pratt). */
function endOfPart(text: string, part: string, from: number): number {
  if (part === "") return from;
  const borders = bordersOf(part);
  for (let at = from, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== part.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(at) === part.charCodeAt(length)) length++;
    if (length === part.length) return at + 1;
  }
  return -1;
}

/** Without a regular expression, whose time a pattern could choose. */
function matchesText(pattern: string, text: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  const middle = text.slice(0, text.length - last.length);
  let at = first.length;
  for (const part of others) {
    at = endOfPart(middle, part, at);
    if (at === -1) return false;
  }
  return true;
}

function matchesHost(pattern: string, host: string): boolean {
  if (pattern === "*" || pattern === host) return true;
  return pattern.startsWith("*.") && (host === pattern.slice(2) || host.endsWith(pattern.slice(1)));
}

/** Whether a pattern names an address. `*.example.com` also names `example.com`; without a port, every port matches. */
export function matchesUrl(pattern: UrlPattern, address: PageAddress): boolean {
  return (
    (pattern.scheme === "*" || pattern.scheme === address.scheme) &&
    matchesHost(pattern.host, address.host) &&
    (pattern.port === undefined || pattern.port === address.port) &&
    matchesText(pattern.path, address.path)
  );
}
