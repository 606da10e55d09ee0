import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { eventually } from "@shoal/testkit";
import { expect, it } from "vitest";
import { BadProfileArchive, packProfile, readStateOf, unpackProfile } from "./archive.ts";
import type { SavedState } from "./saved-state.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

const stateOf = (content: Buffer): Buffer =>
  Buffer.concat([
    tarHeader({ name: "shoal/state.json", sizeBytes: content.length, modifiedAtSeconds: 0 }),
    content,
    tarPadding(content.length),
    tarEnd,
  ]);

it("reads back the state that it packed", async () => {
  const state: SavedState = {
    version: 1,
    apply: "all",
    cookies: [],
    origins: [{ origin: "https://a.example", localStorage: [{ name: "n", value: "v" }] }],
  };
  expect(await readStateOf(packProfile(undefined, state))).toEqual(state);
});

it.each([
  [
    "two million empty origins",
    `{"version":1,"apply":"all","cookies":[],"origins":[${"{},".repeat(2_000_000)}{}]}`,
    /limit of 700000 for its values/,
  ],
  [
    "deep nesting",
    `{"version":1,"apply":"all","cookies":[],"origins":${"[".repeat(100_000)}`,
    /limit of 20 for its depth/,
  ],
])("rejects a small archive of a state with %s before parsing it", async (_what, text, message) => {
  const archive = zstdCompressSync(stateOf(Buffer.from(text)));
  expect(archive.length).toBeLessThan(10_000);
  const error: unknown = await readStateOf(Readable.from([archive])).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BadProfileArchive);
  expect((error as Error).message).toMatch(message);
});

it("rejects an archive that needs more memory than packing ever uses", async () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  // A known size would make the window as small as the content.
  const archive = zstdCompressSync(stateOf(Buffer.alloc(40 * 2 ** 20, " ")), { params });
  await expect(readStateOf(Readable.from([archive]))).rejects.toThrow(BadProfileArchive);
});

it("stops reading an endless archive of folders", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-archive-"));
  const header = Buffer.from(tarHeader({ name: "Default/", sizeBytes: 0, modifiedAtSeconds: 0 }));
  header.write("        5", 148, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const archive = zstdCompressSync(Buffer.concat([...Array.from({ length: 200_001 }, () => header), tarEnd]));
  try {
    await expect(unpackProfile(Readable.from([archive]), join(folder, "profile"))).rejects.toThrow(
      "more than 200000 files and folders",
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

const noState: SavedState = { version: 1, apply: "cookies", cookies: [], origins: [] };

async function withProfile(
  files: ReadonlyMap<string, Buffer>,
  work: (folder: string, elsewhere: string) => Promise<void>,
): Promise<void> {
  const base = await mkdtemp(join(tmpdir(), "shoal-archive-"));
  const folder = join(base, "profile");
  await mkdir(join(folder, "Default"), { recursive: true });
  for (const [name, content] of files) await writeFile(join(folder, "Default", name), content);
  try {
    await work(folder, join(base, "unpacked"));
  } finally {
    await rm(base, { recursive: true });
  }
}

it("keeps the content of files of every size around blocks and buffers", async () => {
  const mebibyte = 2 ** 20;
  const sizes = [0, 1, 511, 512, 513, 4096, mebibyte - 513, mebibyte, mebibyte + 1, 3 * mebibyte + 7];
  const files = new Map(sizes.map((size) => [`of ${String(size)} bytes`, randomBytes(size)]));
  await withProfile(files, async (folder, elsewhere) => {
    // Half is read at once, half in pieces.
    await unpackProfile(Readable.from([await buffer(packProfile(folder, noState))]), elsewhere);
    await unpackProfile(packProfile(folder, noState), `${elsewhere}-again`);
    for (const place of [elsewhere, `${elsewhere}-again`]) {
      expect((await readdir(join(place, "Default"))).toSorted()).toEqual([...files.keys()].toSorted());
      for (const [name, content] of files)
        expect((await readFile(join(place, "Default", name))).equals(content), name).toBe(true);
    }
  });
});

/** Chromium's files may change at any time; the packer has then read the size already. */
it("fails when a file becomes shorter while it is packed", async () => {
  const large = 32 * 2 ** 20;
  await withProfile(new Map([["large", randomBytes(large)]]), async (folder) => {
    const packing = packProfile(folder, noState);
    // Nothing reads yet, and the buffers hold less than the file: the packer waits in the middle of it.
    await new Promise((resolve) => packing.once("readable", resolve));
    await truncate(join(folder, "Default", "large"), 1000);
    await expect(buffer(packing)).rejects.toThrow("Default/large became shorter while it was packed.");
  });
});

async function openBelow(folder: string): Promise<string[]> {
  const links = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
  return (await Promise.all(links)).filter((path) => path.startsWith(folder));
}

it.skipIf(process.platform !== "linux")("closes its files when its reader stops", async () => {
  await withProfile(new Map([["large", randomBytes(32 * 2 ** 20)]]), async (folder) => {
    const packing = packProfile(folder, noState);
    await new Promise((resolve) => packing.once("readable", resolve));
    await eventually("the packer reads the file", async () => (await openBelow(folder)).length === 1);
    packing.destroy();
    await eventually("the packer has closed the file", async () => (await openBelow(folder)).length === 0);
  });
});
