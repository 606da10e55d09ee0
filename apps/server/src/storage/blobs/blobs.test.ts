import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { type Blobs, createFileBlobs, sweepBlobs } from "./blobs.ts";

let folder: string;
let blobs: Blobs;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-blobs-"));
  blobs = createFileBlobs(join(folder, "made", "when needed"));
});
afterAll(() => rm(folder, { recursive: true }));

const files = () => readdir(join(folder, "made", "when needed"));
const of = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

it("sweeps old blobs without a row, and unfinished uploads", async () => {
  const [named, orphan, young] = await Promise.all([
    blobs.put(of("1"), { maxBytes: 1 }),
    blobs.put(of("2"), { maxBytes: 1 }),
    blobs.put(of("3"), { maxBytes: 1 }),
  ]);
  const old = new Date(Date.now() - 7 * 60 * 60 * 1000);
  const pathOf = (name: string) => join(folder, "made", "when needed", name);
  const unfinished = `${createId()}.part`;
  await writeFile(pathOf(unfinished), "");
  for (const name of [named.name, orphan.name, unfinished]) await utimes(pathOf(name), old, old);
  expect(await sweepBlobs(blobs, async (names) => new Set(names.filter((name) => name === named.name)))).toBe(1);
  expect((await files()).sort()).toEqual([named.name, young.name].sort());
});

it.skipIf(process.platform === "win32")("reads content whose file was deleted after it was found", async () => {
  const { name } = await blobs.put(of("content"), { maxBytes: 7 });
  const found = await blobs.get(name);
  await blobs.delete(name);
  expect(found && (await text(found.stream))).toBe("content");
});

it.runIf(process.platform === "linux")("closes the file of content that fails before it removes the file", async () => {
  const before = await files();
  const failing = () =>
    new Readable({
      read() {
        this.destroy(new Error("gone"));
      },
    });
  const openAndRemoved = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        return path.startsWith(folder) && path.endsWith(".part (deleted)");
      } catch {
        return false;
      }
    });
  const puts = Array.from({ length: 100 }, () => blobs.put(failing(), { maxBytes: 1 }).catch(openAndRemoved));
  expect((await Promise.all(puts)).flat()).toEqual([]);
  expect(await files()).toEqual(before);
});
