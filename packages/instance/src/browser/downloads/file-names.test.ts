import { describe, expect, it } from "vitest";
import { candidateNames, safeFileName } from "./file-names.ts";

const first = (name: string, count: number) => [...candidateNames(name)].slice(0, count);

describe("names of downloaded files", () => {
  it.each([
    ["report.pdf", "report.pdf"],
    ["../../etc/passwd", ".._.._etc_passwd"],
    ["a\\b\0c", "a_b_c"],
    ["a\u001b[31m\nb.txt", "a_[31m_b.txt"],
    ["invoice\u202efdp.exe", "invoice_fdp.exe"],
    ["\ud800.txt", "\ufffd.txt"],
    ["..", "download"],
    ["  ", "download"],
    [".hidden", ".hidden"],
  ])("turns %j into %j", (suggested, name) => {
    expect(safeFileName(suggested)).toBe(name);
  });

  it("inserts a number before the extension when a name is taken", () => {
    expect(first("report.pdf", 3)).toEqual(["report.pdf", "report (1).pdf", "report (2).pdf"]);
    expect(first("a.tar.gz", 2)).toEqual(["a.tar.gz", "a (1).tar.gz"]);
    expect(first("Makefile", 2)).toEqual(["Makefile", "Makefile (1)"]);
    expect(first(".hidden", 2)).toEqual([".hidden", ".hidden (1)"]);
  });

  it("stays within 255 bytes without splitting a character", () => {
    for (const name of [...candidateNames(safeFileName(`${"\u00e9".repeat(400)}.txt`))]) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(name).toMatch(/^\u00e9+( \([\w-]+\))?\.txt$/);
    }
  });

  it("ends with a unique name", () => {
    expect([...candidateNames("a.txt")].at(-1)).not.toBe([...candidateNames("a.txt")].at(-1));
  });
});
