import { expect, it } from "vitest";
import { safeFileName } from "./file-name.ts";

it.each([
  ["report.pdf", "report.pdf"],
  ["ä b.txt", "ä b.txt"],
  [".bashrc", "bashrc"],
  ["...bashrc", "bashrc"],
  [" .bashrc", "bashrc"],
  ["\u200b.bashrc", "bashrc"],
  ["\ufeff.ssh", "ssh"],
  ["../../.profile", "profile"],
  ["..\\..\\up.txt", "up.txt"],
  ["-rf", "rf"],
  ["~root", "root"],
  ["a\u0000\u001b[31m\n.txt", "a[31m.txt"],
  ["invoice\u202efdp.exe", "invoicefdp.exe"],
  ["a\u2066b\u061c.txt", "ab.txt"],
  ["a.txt. . ", "a.txt"],
  ["a.txt:stream", "a.txt_stream"],
  ['a"b|c?.txt', "a_b_c_.txt"],
  ["CON", "_CON"],
  ["nul.txt", "_nul.txt"],
  ["COM1", "_COM1"],
  ["lpt¹.log", "_lpt¹.log"],
  ["console.log", "console.log"],
  ["..", undefined],
  [". .", undefined],
  ["", undefined],
])("turns %j into %j", (offered, name) => {
  expect(safeFileName(offered)).toBe(name);
});

it("shortens long names and keeps their ending", () => {
  const name = safeFileName(`${"ü".repeat(500)}.pdf`) ?? "";
  expect([name.endsWith("ü.pdf"), Buffer.byteLength(name)]).toEqual([true, 180]);
});
