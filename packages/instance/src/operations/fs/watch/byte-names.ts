/** In watches, names are `latin1` strings of their bytes: cheap map keys that preserve invalid UTF-8. */
export function byteName(text: string): string {
  return Buffer.from(text).toString("latin1");
}

export function bytesOf(name: string): Buffer {
  return Buffer.from(name, "latin1");
}
