/**
 * Inside a watch, names and paths are strings of bytes, one character a byte (latin1): cheap keys of maps that keep what is not UTF-8.
 * `escaped-names.ts` makes text of them for the wire.
 */
export function byteName(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** The bytes of a {@link byteName}, which `node:fs` takes for a path. */
export function bytesOf(name: string): Buffer {
  return Buffer.from(name, "latin1");
}
