import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { save } from "./download.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-download-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});
const at = (name: string) => join(folder, name);
const { signal } = new AbortController();
const content = Buffer.alloc(300_000, 7);
const bytes = () => Readable.from([content.subarray(0, 100_000), content.subarray(100_000)]);

describe.skipIf(process.platform === "win32")("a saved download", () => {
  it("keeps the permissions of an existing file, and a symbolic link to it", async () => {
    writeFileSync(at("private"), "old");
    chmodSync(at("private"), 0o606);
    symlinkSync("private", at("link"));
    expect(await save(bytes(), at("link"), signal)).toBe(`Saved ${at("link")} (300.0 kB).`);
    expect(readFileSync(at("private"))).toEqual(content);
    expect([statSync(at("private")).mode & 0o777, readlinkSync(at("link"))]).toEqual([0o606, "private"]);
    expect(readdirSync(folder).sort()).toEqual(["link", "private"]);
  });

  it("is written to a named pipe without replacing it", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const saved = save(bytes(), at("pipe"), signal);
    expect(await readFile(at("pipe"))).toEqual(content);
    expect(await saved).toBe(`Saved ${at("pipe")} (300.0 kB).`);
    expect([lstatSync(at("pipe")).isFIFO(), readdirSync(folder)]).toEqual([true, ["pipe"]]);
  });

  it("stops waiting for the reader of a named pipe when it is aborted or the download fails", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const controller = new AbortController();
    const saved = save(bytes(), at("pipe"), controller.signal);
    controller.abort();
    await expect(saved).rejects.toMatchObject({ name: "AbortError" });
    const lost = bytes();
    const failed = save(lost, at("pipe"), signal);
    lost.destroy(new Error("the connection was lost"));
    await expect(failed).rejects.toThrow("the connection was lost");
  });

  it("is written to a device without replacing it", async () => {
    symlinkSync("/dev/null", at("null"));
    expect(await save(bytes(), at("null"), signal)).toBe(`Saved ${at("null")} (300.0 kB).`);
    expect([readlinkSync(at("null")), lstatSync("/dev/null").isCharacterDevice()]).toEqual(["/dev/null", true]);
  });
});
