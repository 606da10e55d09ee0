/** Longest file name in bytes on Linux, macOS and Windows. */
const maxNameBytes = 255;
/** Numbers to try before a random suffix. */
const maxNumber = 100;

/** Separators, control characters, and marks that reverse the shown text. */
const unsafe = /[/\\\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

export function safeFileName(suggested: string): string {
  const name = suggested.toWellFormed().replace(unsafe, "_").trim().replace(/^\.+$/, "");
  return name === "" ? "download" : shorten(name, "");
}

/** Yields names to try in order: `a.tar.gz`, `a (1).tar.gz`, `a (2).tar.gz`, …, and finally a unique one. */
export function* candidateNames(name: string): Generator<string> {
  yield name;
  for (let number = 1; number <= maxNumber; number++) yield shorten(name, ` (${String(number)})`);
  yield shorten(name, ` (${crypto.randomUUID()})`);
}

/** Inserts `suffix` before the extension and shortens the stem so that the name stays valid. */
function shorten(name: string, suffix: string): string {
  const extension = /(?<=.)(?:\.tar)?\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? "";
  let stem = name.slice(0, name.length - extension.length);
  const room = maxNameBytes - Buffer.byteLength(suffix + extension);
  if (Buffer.byteLength(stem) > room)
    stem = Buffer.from(stem)
      .subarray(0, room)
      .toString()
      .replace(/(?<!\uFFFD)\uFFFD+$/, "");
  return `${stem}${suffix}${extension}`;
}
