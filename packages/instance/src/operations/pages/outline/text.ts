import { clean } from "../reading/names.ts";
import { outlineRoles } from "../reading/roles.ts";

/** Longest text of a block, in characters. */
const maxBlockCharacters = 400;
const maxTargetCharacters = 50;
/** Text that cannot be confused with the rest of a line. */
const plain = /^[\p{L}\p{N}\p{Sc}\p{So}(#@/'‘“„«][^[\]"|\\<>]*$/u;

/** Everything that a page chooses is in quotes, or cannot look like another part of an outline. */
export function quote(text: string, maxCharacters?: number): string {
  return `"${clean(text, maxCharacters).replace(/["\\]/g, "\\$&")}"`;
}

/** Text without a role. Quotes are left out where they are not needed. */
export function plainText(text: string): string {
  const line = clean(text, maxBlockCharacters);
  const [first = ""] = line.split(/[ :]/, 1);
  return plain.test(line) && !outlineRoles.has(first) ? line : quote(line, maxBlockCharacters + 1);
}

/** The target of a link: only the path on the same origin. */
export function shortTarget(href: string, base: string): string {
  if (href.length > 8_000 || !URL.canParse(href, base)) return "";
  const url = new URL(href, base);
  if (url.protocol === "javascript:" || url.protocol === "data:" || url.protocol === "blob:") return "";
  const here = URL.canParse(base) ? new URL(base) : undefined;
  const isSamePage = here?.origin === url.origin && here.pathname === url.pathname && here.search === url.search;
  if (isSamePage && url.hash !== "") return shorten(url.hash);
  const path = `${url.pathname}${url.search}`;
  if (here?.origin === url.origin && url.origin !== "null") return shorten(path);
  return shorten(/^https?:$/.test(url.protocol) ? `${url.host}${path === "/" ? "" : path}` : url.href);
}

function shorten(target: string): string {
  const readable = clean(decode(target), maxTargetCharacters * 2).replace(/[\s"\\[\]|<>]/g, encodeURIComponent);
  return readable.length <= maxTargetCharacters
    ? readable
    : `${readable.slice(0, maxTargetCharacters).toWellFormed()}…`;
}

function decode(target: string): string {
  try {
    return decodeURI(target);
  } catch {
    return target;
  }
}
