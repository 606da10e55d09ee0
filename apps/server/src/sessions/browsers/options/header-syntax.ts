import { validateHeaderValue } from "node:http";

/** As most servers limit one header. */
const maxValueCharacters = 8_192;

/**
 * Headers of connections, of the message, of cookies, and those by which a site knows where a request comes from: another
 * value would bypass the browser's protection of the site.
 */
const refusedNames: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "via", "host", "expect", "date"],
  ...["cookie", "cookie2", "set-cookie", "origin", "referer", "range", "dnt", "accept-encoding", "accept-charset"],
  ...["shoal-egress-client", "max-forwards", "http2-settings", "x-http-method", "x-http-method-override"],
  "x-method-override",
]);
const refusedPrefixes = ["proxy-", "sec-", "content-", "access-control-", "if-"];

/** Why a header cannot be added, to follow its field. */
export function nameProblem(name: string): string | undefined {
  const known = name.toLowerCase();
  if (!refusedNames.has(known) && !refusedPrefixes.some((prefix) => known.startsWith(prefix))) return undefined;
  return `${name} is a header of the connection, of cookies or of the browser's security, and cannot be added`;
}

/** Why a value cannot be sent, to follow "the stored value". Contains nothing of the value. */
export function valueProblem(value: string): string | undefined {
  if (value.length > maxValueCharacters)
    return `has ${String(value.length)} characters; a header has at most ${String(maxValueCharacters)}`;
  try {
    validateHeaderValue("value", value);
    return undefined;
  } catch {
    return "contains a line break or another character that headers cannot have";
  }
}
