/** Dots that lead to another folder, also encoded once. */
const dots = /^(?:\.|%2e){1,2}$/i;
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const refused = /[\u0000-\u001f\u007f\\]/;

/**
 * Encodes a text of a caller as one segment of an upstream's path.
 * @returns `undefined` for a text that could lead elsewhere: an empty one, `.`, `..`, control characters, a backslash.
 */
export function pathSegment(text: string): string | undefined {
  if (text === "" || dots.test(text) || refused.test(text) || !text.isWellFormed()) return undefined;
  return encodeURIComponent(text);
}

/** Like {@link pathSegment}, for segments with slashes between them. */
export function pathSegments(text: string): string | undefined {
  const segments = text.split("/").map(pathSegment);
  return segments.includes(undefined) ? undefined : segments.join("/");
}
