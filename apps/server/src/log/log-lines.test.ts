import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LogLines } from "./log-lines.ts";

const lineOf = (text: string, lost: number) => `${String(lost)} ${text}`;

it("writes each line at once", () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-log-"));
  const path = join(folder, "log");
  const file = openSync(path, "w");
  try {
    const lines = new LogLines(file, lineOf);
    lines.write("ä\n");
    expect(readFileSync(path, "utf8")).toBe("ä\n");
    lines.write("b\n");
    expect(readFileSync(path, "utf8")).toBe("ä\nb\n");
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
});

it.runIf(process.platform === "linux")("loses lines that the disk has no room for, without an error", () => {
  const file = openSync("/dev/full", "w");
  try {
    const lines = new LogLines(file, lineOf);
    for (let index = 0; index < 3; index += 1) lines.write("a\n");
  } finally {
    closeSync(file);
  }
});
