import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BadTar, readTar, tarEnd, tarHeader, tarPadding } from "./tar.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-tar-"));
});
afterAll(() => rm(folder, { recursive: true }));

function written(files: ReadonlyMap<string, Buffer>): Buffer {
  const parts = [...files].flatMap(([name, content]) => [
    tarHeader({ name, sizeBytes: content.length, modifiedAtSeconds: 1_700_000_000 }),
    content,
    tarPadding(content.length),
  ]);
  return Buffer.concat([...parts, tarEnd]);
}

function cut(bytes: Buffer, pieceBytes: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
}

async function read(archive: Buffer, pieceBytes = 1000): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const { name, kind, content } of readTar(Readable.from(cut(archive, pieceBytes))))
    if (kind === "file") files.set(name, await buffer(content));
  return files;
}

const long = `Default/IndexedDB/https_${"sub.".repeat(40)}example.com_0.indexeddb.leveldb/000003.log`;
const files = new Map([
  ["shoal/state.json", Buffer.from("{}")],
  ["Default/empty", Buffer.alloc(0)],
  ["Default/block", Buffer.alloc(512, "x")],
  ["Default/File System/päge \u{1f319}", Buffer.alloc(1500, "y")],
  [long, Buffer.from("long")],
]);

it("reads its own archives, with any names and in any pieces", async () => {
  const name = fc
    .array(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter((part) => !/[/\0]/.test(part)),
      { minLength: 1, maxLength: 6 },
    )
    .map((parts) => parts.join("/"));
  const some = fc.array(fc.tuple(name, fc.uint8Array({ maxLength: 2000 })), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(some, fc.integer({ min: 1, max: 3000 }), async (entries, pieceBytes) => {
      const made = new Map(entries.map(([path, content]) => [path, Buffer.from(content)]));
      expect(await read(written(made), pieceBytes)).toEqual(made);
    }),
    { numRuns: 100 },
  );
});

it("exchanges archives with tar in both directions", async () => {
  const archive = join(folder, "ours.tar");
  await writeFile(archive, written(files));
  const there = join(folder, "there");
  await mkdir(there);
  execFileSync("tar", ["-xf", archive, "-C", there]);
  for (const [name, content] of files) expect((await readFile(join(there, name))).equals(content)).toBe(true);
  for (const format of ["posix", "gnu"]) {
    execFileSync("tar", [`--format=${format}`, "-cf", archive, "-C", there, "."]);
    const found = await read(await readFile(archive));
    expect(new Map([...found].map(([name, content]) => [name.replace(/^\.\//, ""), content]))).toEqual(files);
  }
  expect(dirname(long)).not.toBe(".");
});

it("rejects invalid, damaged and truncated archives, and releases the source", async () => {
  const whole = written(files);
  for (const length of [1, 511, 600, 1024 + 100, whole.length - 1024])
    await expect(read(whole.subarray(0, length))).rejects.toThrow(BadTar);
  await expect(read(Buffer.alloc(2048, "nonsense"))).rejects.toThrow(BadTar);
  const changed = Buffer.from(whole);
  changed.writeUInt8(changed.readUInt8(3) ^ 1, 3);
  await expect(read(changed)).rejects.toThrow(BadTar);
  const source = Readable.from(cut(whole, 100));
  for await (const entry of readTar(source)) {
    expect(entry.name).toBe("shoal/state.json");
    break;
  }
  expect(source.destroyed).toBe(true);
});

it.each(["g", "x", "L", "K"])("stops reading an archive that contains only headers of type %s", async (type) => {
  const header = Buffer.from(tarHeader({ name: "PaxHeader", sizeBytes: 0, modifiedAtSeconds: 0 }));
  header.write(`        ${type}`, 148, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  let given = 0;
  function* endless(): Generator<Buffer> {
    for (; given < 100_000; given += 1) yield header;
  }
  const source = Readable.from(endless());
  await expect(async () => {
    for await (const entry of readTar(source)) throw new Error(`Expected no entry, but read ${entry.name}.`);
  }).rejects.toThrow(BadTar);
  expect(given).toBeLessThan(100);
});
