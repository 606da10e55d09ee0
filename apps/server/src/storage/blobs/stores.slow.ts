import { CompleteMultipartUploadCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { startTestS3, type TestS3 } from "../../testing/s3-server.ts";
import { type Blobs, putHashed } from "./blobs.ts";
import { BlobTooLarge } from "./measured-content.ts";
import { openBlobs } from "./open-blobs.ts";

const mib = 2 ** 20;
const of = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
const soon = () => new Date(Date.now() + 3_600_000);

/** A stream whose chunks ignore the part size; fails after `cutAfter` bytes. */
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

const clientOf = (s3: TestS3) =>
  new S3Client({
    endpoint: `http://${s3.host}`,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey },
  });

async function all(names: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const name of names) found.push(name);
  return found.sort();
}

describe.each(["files", "an S3-compatible store", "an S3-compatible store that checks signatures"] as const)(
  "%s",
  (kind) => {
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

    it("stores, returns and deletes blobs", async () => {
      expect(await blobs.get(createId())).toBeUndefined();
      const { name, sizeBytes, sha256 } = await putHashed(blobs, of("Hello", " ", "blob"), { maxBytes: 10 });
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

    it("stores empty content, and content larger than a part", async () => {
      const empty = await blobs.put(of(), { maxBytes: 1 });
      expect(empty.sizeBytes).toBe(0);
      expect((await blobs.get(empty.name))?.sizeBytes).toBe(0);
      for (const sizeBytes of [8 * mib, 8 * mib + 1, 20 * mib]) {
        const { name, sha256 } = await putHashed(blobs, stream(sizeBytes), { maxBytes: sizeBytes });
        const found = await blobs.get(name);
        expect(found?.sizeBytes).toBe(sizeBytes);
        const expected = await digest(stream(sizeBytes));
        expect(sha256).toBe(expected);
        expect(found && (await digest(found.stream))).toBe(expected);
        await blobs.delete(name);
      }
      await blobs.delete(empty.name);
    });

    it("closes a stream that is not read to its end", async () => {
      const { name } = await blobs.put(stream(9 * mib), { maxBytes: 9 * mib });
      const found = await blobs.get(name);
      for await (const chunk of found?.stream ?? []) {
        expect((chunk as Buffer).length).toBeGreaterThan(0);
        break;
      }
      await expect.poll(() => found?.stream.destroyed).toBe(true);
      await blobs.delete(name);
    });

    it("passes the complete content to the check", async () => {
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

    it("stores nothing of content that is too large, interrupted or rejected", async () => {
      await expect(blobs.put(of("123", "4"), { maxBytes: 3 })).rejects.toThrow(BlobTooLarge);
      await expect(blobs.put(stream(20 * mib), { maxBytes: 19 * mib })).rejects.toThrow(BlobTooLarge);
      await expect(blobs.put(stream(20 * mib, 17 * mib), { maxBytes: 20 * mib })).rejects.toThrow("cut off");
      await expect(
        blobs.put(of("123"), { maxBytes: 3, check: () => Promise.reject(new Error("no good")) }),
      ).rejects.toThrow("no good");
      expect(
        (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()),
      ).toEqual([]);
      if (s3 === undefined) return;
      // Every started upload without an object was aborted.
      const keys = (pattern: RegExp) => s3?.requests.flatMap((asked) => pattern.exec(asked)?.[1] ?? []) ?? [];
      const begun = keys(/^POST ([^?]+)\?uploads=/);
      const finished = keys(/^POST ([^?]+)\?uploadId=/);
      expect(keys(/^DELETE ([^?]+)\?uploadId=/)).toEqual(begun.filter((key) => !finished.includes(key)));
    });

    it("never treats a name as a path", async () => {
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

    // This server signs lists differently from S3.
    if (kind === "an S3-compatible store that checks signatures") return;

    it("lists old blobs of one area only", async () => {
      for await (const name of blobs.listOlderThan(soon())) await blobs.delete(name);
      const mine = await Promise.all([blobs.put(of("1"), { maxBytes: 1 }), blobs.put(of("2"), { maxBytes: 1 })]);
      const other = await others.put(of("3"), { maxBytes: 1 });
      expect(await all(blobs.listOlderThan(soon()))).toEqual(mine.map(({ name }) => name).sort());
      expect(await all(blobs.listOlderThan(new Date(Date.now() - 3_600_000)))).toEqual([]);
      expect(await all(others.listOlderThan(soon()))).toEqual([other.name]);
    });

    if (kind === "files") return;

    it("lists several pages, and objects of one area only", async () => {
      if (s3 === undefined) return;
      const client = clientOf(s3);
      const putObject = (Key: string) => client.send(new PutObjectCommand({ Bucket: "shoal", Key, Body: "x" }));
      for await (const name of blobs.listOlderThan(soon())) await blobs.delete(name);
      const names = Array.from({ length: 1001 }, () => createId());
      for (let start = 0; start < names.length; start += 50)
        await Promise.all(names.slice(start, start + 50).map((name) => putObject(`kept/profiles/${name}`)));
      await putObject("kept/profiles/README.txt");
      await putObject(`kept/profiles/sub/${createId()}`);
      await putObject(`elsewhere/${createId()}`);
      expect(await all(blobs.listOlderThan(soon()))).toEqual(names.sort());
    });

    it("aborts an upload completely", async () => {
      if (s3 === undefined) return;
      await expect(blobs.put(stream(20 * mib, 17 * mib), { maxBytes: 20 * mib })).rejects.toThrow("cut off");
      const [, key = "", id = ""] = /^DELETE \/shoal\/([^?]+)\?uploadId=(.+)$/.exec(s3.requests.at(-1) ?? "") ?? [];
      const client = clientOf(s3);
      await expect(
        client.send(
          new CompleteMultipartUploadCommand({
            Bucket: "shoal",
            Key: key,
            UploadId: id,
            MultipartUpload: { Parts: [{ PartNumber: 1, ETag: "x" }] },
          }),
        ),
      ).rejects.toMatchObject({ name: "NoSuchUpload" });
    });
  },
);
