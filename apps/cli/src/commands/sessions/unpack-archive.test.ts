import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { unpackArchive } from "./unpack-archive.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-unpack-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const signal = new AbortController().signal;
const unpack = (limits?: { entries: number; bytes: number }) =>
  unpackArchive(join(folder, "a.zip"), join(folder, "out"), signal, limits);

/** @param names - replaces names by others of the same length, which no library writes. */
async function pack(
  files: Readonly<Record<string, string | { readonly target: string }>>,
  names: Readonly<Record<string, string>> = {},
): Promise<void> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files))
    if (typeof content === "string") zip.addBuffer(Buffer.from(content), name);
    else zip.addBuffer(Buffer.from(content.target), name, { mode: 0o120777 });
  zip.end();
  const path = join(folder, "a.zip");
  await pipeline(zip.outputStream, createWriteStream(path));
  let bytes = readFileSync(path).toString("latin1");
  for (const [from, to] of Object.entries(names)) bytes = bytes.replaceAll(from, Buffer.from(to).toString("latin1"));
  writeFileSync(path, Buffer.from(bytes, "latin1"));
}

it("unpacks files and folders", async () => {
  await pack({ "a.txt": "one", "b/c.txt": "two" });
  expect(await unpack()).toEqual({ files: 2, bytes: 6, skipped: 0 });
  expect(readFileSync(join(folder, "out/b/c.txt"), "utf8")).toBe("two");
});

it.each([
  ["xx/escape", "../escape"],
  ["x/tmp/escape", "//tmp/escape"],
  ["b/xx/xx/escape", "b/../../escape"],
  ["aaaa", "aa\0a"],
  ["aaaa", "a\u001b[a"],
  ["aaaaaa", "a\u202exe"],
  ["aaaa", "aaa."],
])("rejects %s renamed to %j", async (name, evil) => {
  await pack({ [name]: "evil" }, { [name]: evil });
  await expect(unpack()).rejects.toThrow(/Cannot unpack the archive of the session: the name .* is not allowed/);
  expect(existsSync(join(folder, "escape"))).toBe(false);
  expect(readdirSync(join(folder, "out"))).toEqual([]);
});

it("skips symbolic links, so that no file is written through one", async () => {
  await pack({ link: { target: "/tmp" }, "file.txt": "kept" });
  expect(await unpack()).toMatchObject({ files: 1, skipped: 1 });
  expect(readdirSync(join(folder, "out"))).toEqual(["file.txt"]);
});

it("rejects a second entry with the same name", async () => {
  await pack({ "a.txt": "one", "b.txt": "two" }, { "b.txt": "a.txt" });
  await expect(unpack()).rejects.toThrow(/EEXIST/);
});

it("rejects archives above a limit and damaged archives", async () => {
  await pack({ "a.txt": "x".repeat(5000), "b.txt": "two" });
  await expect(unpack({ entries: 10, bytes: 1000 })).rejects.toThrow("it unpacks to more than 1.0 kB");
  rmSync(join(folder, "out"), { recursive: true });
  await expect(unpack({ entries: 1, bytes: 10_000 })).rejects.toThrow("more than 1 entries");
  rmSync(join(folder, "out"), { recursive: true });
  writeFileSync(join(folder, "a.zip"), "not an archive");
  await expect(unpack()).rejects.toThrow("Cannot unpack the archive of the session");
});
