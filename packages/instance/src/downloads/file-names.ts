import { randomUUID } from "node:crypto";

/** Longest name of a file that Linux, macOS and Windows accept, in bytes. */
const maxNameBytes = 255;
/** Numbers that are tried before a random one. */
const maxNumber = 100;

/** A name that a site suggested, without what makes it a path. */
export function safeFileName(suggested: string): string {
  const name = suggested
    .replace(/[/\\\0]/g, "_")
    .trim()
    .replace(/^\.+$/, "");
  return name === "" ? "download" : shorten(name, "");
}

/** Names for a file, the first one free is to be taken: `a.tar.gz`, `a (1).tar.gz`, `a (2).tar.gz`, …, and at last one that is taken by no other file. */
export function* candidateNames(name: string): Generator<string> {
  yield name;
  for (let number = 1; number <= maxNumber; number++) yield shorten(name, ` (${String(number)})`);
  yield shorten(name, ` (${randomUUID()})`);
}

/** Puts `suffix` before the extension, and cuts the rest so that the name stays valid. */
function shorten(name: string, suffix: string): string {
  const extension = /(?<=.)(?:\.tar)?\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? "";
  let stem = name.slice(0, name.length - extension.length);
  const room = maxNameBytes - Buffer.byteLength(suffix + extension);
  if (Buffer.byteLength(stem) > room)
    stem = Buffer.from(stem)
      .subarray(0, room)
      .toString()
      .replace(/\uFFFD+$/, "");
  return `${stem}${suffix}${extension}`;
}
