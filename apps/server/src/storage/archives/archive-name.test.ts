import { expect, it } from "vitest";
import { archiveName } from "./archive-name.ts";

it.each([
  ["notes.txt", "notes.txt"],
  ["../a\\b:c\u0000\u202E.txt", ".._a_b_c__.txt"],
  ["..", "_"],
  ["", "download"],
  ["😀.txt", "😀.txt"],
  ["half \uD83D.txt", "half \uFFFD.txt"],
  [`${"a".repeat(199)}😀.txt`, `${"a".repeat(199)}\uFFFD`],
  [`${".".repeat(200)}txt`, "_"],
])("makes the name %j one of a file in an archive", (name, safe) => {
  expect(archiveName(name)).toBe(safe);
});
