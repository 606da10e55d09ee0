import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createId } from "../ids.ts";
import { type Blobs, BlobTooLarge, createFileBlobs, sweepBlobs } from "./blobs.ts";

let folder: string;
let blobs: Blobs;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-blobs-"));
  blobs = createFileBlobs(join(folder, "made", "when needed"));
});
afterAll(() => rm(folder, { recursive: true }));

const files = () => readdir(join(folder, "made", "when needed"));
const of = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

it("stores, gives back and deletes", async () => {
  expect(await blobs.get(createId())).toBeUndefined();
  const { name, sizeBytes, sha256 } = await blobs.put(of("Hello", " ", "blob"), { maxBytes: 10 });
  expect([sizeBytes, sha256]).toEqual([10, createHash("sha256").update("Hello blob").digest("hex")]);
  const found = await blobs.get(name);
  expect(found?.sizeBytes).toBe(10);
  expect(found && (await text(found.stream))).toBe("Hello blob");
  await blobs.delete(name);
  await blobs.delete(name);
  expect(await blobs.get(name)).toBeUndefined();
  expect(await files()).toEqual([]);
});

it("keeps nothing of what is too large, breaks off or is refused", async () => {
  await expect(blobs.put(of("123", "4"), { maxBytes: 3 })).rejects.toThrow(BlobTooLarge);
  await expect(blobs.put(Readable.from((function* () { yield Buffer.from("1"); throw new Error("cut off"); })()), { maxBytes: 3 })).rejects.toThrow("cut off");
  let seen = "";
  const refused = blobs.put(of("123"), {
    maxBytes: 3,
    async check(path) {
      seen = await readFile(path, "utf8");
      throw new Error("no good");
    },
  });
  await expect(refused).rejects.toThrow("no good");
  expect(seen).toBe("123");
  expect(await files()).toEqual([]);
});

it("takes no name for a path", async () => {
  await writeFile(join(folder, "secret"), "x");
  expect(await blobs.get("../../secret")).toBeUndefined();
  await blobs.delete("../../secret");
  expect(await readdir(folder)).toContain("secret");
});

it("sweeps what no row names, once it is old, and what was never finished", async () => {
  const [named, orphan, young] = await Promise.all([blobs.put(of("1"), { maxBytes: 1 }), blobs.put(of("2"), { maxBytes: 1 }), blobs.put(of("3"), { maxBytes: 1 })]);
  const old = new Date(Date.now() - 7 * 60 * 60 * 1000);
  const pathOf = (name: string) => join(folder, "made", "when needed", name);
  const unfinished = `${createId()}.part`;
  await writeFile(pathOf(unfinished), "");
  for (const name of [named.name, orphan.name, unfinished]) await utimes(pathOf(name), old, old);
  expect(await sweepBlobs(blobs, async (names) => new Set(names.filter((name) => name === named.name)))).toBe(1);
  expect((await files()).sort()).toEqual([named.name, young.name].sort());
});
