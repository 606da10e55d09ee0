import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { S3mini } from "s3mini";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../ids.ts";
import { startTestS3, type TestS3 } from "../testing/s3-server.ts";
import { type Blobs, BlobTooLarge } from "./blobs.ts";
import { openBlobs } from "./open-blobs.ts";

const mib = 2 ** 20;
const of = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
const soon = () => new Date(Date.now() + 3_600_000);

/** Bytes in pieces that fit no part; it fails before the end if it is told to. */
function stream(sizeBytes: number, cutAfter = Infinity): Readable {
  return Readable.from(
    (function* () {
      for (let sent = 0; sent < sizeBytes; sent += 100_003) {
        if (sent >= cutAfter) throw new Error("cut off");
        yield Buffer.alloc(Math.min(100_003, sizeBytes - sent), (sent % 251) + 1);
      }
    })(),
  );
}

async function digest(source: Readable): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of source) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

async function all(names: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const name of names) found.push(name);
  return found.sort();
}

describe.each(["files", "an S3-compatible store", "an S3-compatible store that checks signatures"] as const)("%s", (kind) => {
  let folder: string;
  let s3: TestS3 | undefined;
  let blobs: Blobs;
  let others: Blobs;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "shoal-stores-"));
    if (kind !== "files") s3 = await startTestS3(kind === "an S3-compatible store" ? "unsigned" : "signed");
    const open = await openBlobs(s3 === undefined ? {} : { blob_store_url: s3.url }, folder);
    blobs = open("profiles");
    others = open("extensions");
  });
  afterAll(async () => {
    await s3?.close();
    await rm(folder, { recursive: true });
  });

  it("stores, gives back and deletes", async () => {
    expect(await blobs.get(createId())).toBeUndefined();
    const { name, sizeBytes, sha256 } = await blobs.put(of("Hello", " ", "blob"), { maxBytes: 10 });
    expect([sizeBytes, sha256]).toEqual([10, createHash("sha256").update("Hello blob").digest("hex")]);
    const found = await blobs.get(name);
    expect(found?.sizeBytes).toBe(10);
    expect(found && (await text(found.stream))).toBe("Hello blob");
    expect(await others.get(name)).toBeUndefined();
    await others.delete(name);
    expect(await blobs.get(name)).toBeDefined();
    await blobs.delete(name);
    await blobs.delete(name);
    expect(await blobs.get(name)).toBeUndefined();
  });

  it("stores what is empty, and what is longer than a part", async () => {
    const empty = await blobs.put(of(), { maxBytes: 1 });
    expect(empty.sizeBytes).toBe(0);
    expect((await blobs.get(empty.name))?.sizeBytes).toBe(0);
    for (const sizeBytes of [8 * mib, 8 * mib + 1, 20 * mib]) {
      const { name, sha256 } = await blobs.put(stream(sizeBytes), { maxBytes: sizeBytes });
      const found = await blobs.get(name);
      expect(found?.sizeBytes).toBe(sizeBytes);
      const expected = await digest(stream(sizeBytes));
      expect(sha256).toBe(expected);
      expect(found && (await digest(found.stream))).toBe(expected);
      await blobs.delete(name);
    }
    await blobs.delete(empty.name);
  });

  it("lets go of what is not read to its end", async () => {
    const { name } = await blobs.put(stream(9 * mib), { maxBytes: 9 * mib });
    const found = await blobs.get(name);
    for await (const chunk of found?.stream ?? []) {
      expect((chunk as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect(found?.stream.destroyed).toBe(true);
    await blobs.delete(name);
  });

  it("shows the whole content to who checks it", async () => {
    let seen = "";
    const { name } = await blobs.put(of("123", "4"), {
      maxBytes: 4,
      check: async (path) => {
        seen = await readFile(path, "utf8");
      },
    });
    const found = await blobs.get(name);
    expect([seen, found && (await text(found.stream))]).toEqual(["1234", "1234"]);
    await blobs.delete(name);
  });

  it("keeps nothing of what is too large, breaks off or is refused", async () => {
    await expect(blobs.put(of("123", "4"), { maxBytes: 3 })).rejects.toThrow(BlobTooLarge);
    await expect(blobs.put(stream(20 * mib), { maxBytes: 19 * mib })).rejects.toThrow(BlobTooLarge);
    await expect(blobs.put(stream(20 * mib, 17 * mib), { maxBytes: 20 * mib })).rejects.toThrow("cut off");
    await expect(blobs.put(of("123"), { maxBytes: 3, check: () => Promise.reject(new Error("no good")) })).rejects.toThrow("no good");
    expect((await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())).toEqual([]);
    if (s3 === undefined) return;
    // Each upload that was begun and is not there was given up.
    const keys = (pattern: RegExp) => s3?.requests.flatMap((asked) => pattern.exec(asked)?.[1] ?? []) ?? [];
    const begun = keys(/^POST ([^?]+)\?uploads=/);
    const finished = keys(/^POST ([^?]+)\?uploadId=/);
    expect(keys(/^DELETE ([^?]+)\?uploadId=/)).toEqual(begun.filter((key) => !finished.includes(key)));
  });

  it("takes no name for a path", async () => {
    const { name } = await others.put(of("x"), { maxBytes: 1 });
    const asked = s3?.requests.length;
    for (const hostile of [
      `../extensions/${name}`,
      `..%2Fextensions%2F${name}`,
      "../../secret",
      "",
      ".",
      "/",
      `${name}/`,
      `${name}?versionId=1`,
      "a".repeat(10_000),
      "\0",
    ]) {
      expect(await blobs.get(hostile)).toBeUndefined();
      await blobs.delete(hostile);
    }
    expect(s3?.requests.length).toBe(asked);
    expect(await others.get(name)).toBeDefined();
    await others.delete(name);
  });

  // This server signs lists otherwise than S3 does.
  if (kind === "an S3-compatible store that checks signatures") return;

  it("lists what is old, of its area alone", async () => {
    for await (const name of blobs.listOlderThan(soon())) await blobs.delete(name);
    const mine = await Promise.all([blobs.put(of("1"), { maxBytes: 1 }), blobs.put(of("2"), { maxBytes: 1 })]);
    const other = await others.put(of("3"), { maxBytes: 1 });
    expect(await all(blobs.listOlderThan(soon()))).toEqual(mine.map(({ name }) => name).sort());
    expect(await all(blobs.listOlderThan(new Date(Date.now() - 3_600_000)))).toEqual([]);
    expect(await all(others.listOlderThan(soon()))).toEqual([other.name]);
  });

  if (kind === "files") return;

  it("lists more than a page has, and only what it made", async () => {
    if (s3 === undefined) return;
    const client = new S3mini({ accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey, endpoint: `http://${s3.host}/shoal`, region: "us-east-1" });
    for await (const name of blobs.listOlderThan(soon())) await blobs.delete(name);
    const names = Array.from({ length: 1001 }, () => createId());
    for (let start = 0; start < names.length; start += 50)
      await Promise.all(names.slice(start, start + 50).map((name) => client.putObject(`kept/profiles/${name}`, "x")));
    await client.putObject("kept/profiles/README.txt", "x");
    await client.putObject(`kept/profiles/sub/${createId()}`, "x");
    await client.putObject(`elsewhere/${createId()}`, "x");
    expect(await all(blobs.listOlderThan(soon()))).toEqual(names.sort());
  });

  it("gives up an upload for good", async () => {
    if (s3 === undefined) return;
    await expect(blobs.put(stream(20 * mib, 17 * mib), { maxBytes: 20 * mib })).rejects.toThrow("cut off");
    const [, key = "", id = ""] = /^DELETE \/shoal\/([^?]+)\?uploadId=(.+)$/.exec(s3.requests.at(-1) ?? "") ?? [];
    const client = new S3mini({ accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey, endpoint: `http://${s3.host}/shoal`, region: "us-east-1" });
    await expect(client.completeMultipartUpload(key, id, [{ partNumber: 1, etag: "x" }])).rejects.toThrow("NoSuchUpload");
  });
});
