import { Readable } from "node:stream";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
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
