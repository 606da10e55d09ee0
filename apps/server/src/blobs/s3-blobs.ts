import { ServiceError } from "@shoal/router";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { S3mini, S3ServiceError, type UploadPart } from "s3mini";
import { createId, isId } from "../ids.ts";
import { StartError } from "../start-error.ts";
import { type Blobs, BlobTooLarge } from "./blobs.ts";
import type { S3Address } from "./s3-address.ts";
import { fetchFromStore } from "./s3-fetch.ts";

/** A store with its secret. */
export interface S3Options extends S3Address {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Folder for contents that are checked before they are uploaded; emptied at start. */
  readonly scratch: string;
}

/** A part is in memory until the store has it. Stores take 5 MiB to 5 GiB, and 10,000 of them. */
const smallestPartBytes = 8 * 2 ** 20;
const maxParts = 10_000;

function describe(error: unknown): string {
  if (error instanceof S3ServiceError) return `it answered ${String(error.status)} ${error.serviceCode ?? ""}`.trim();
  // Undici's own message is the same for all that happens to connections.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}

/** @throws {ServiceError} 503 for whatever keeps the store from doing it: later it will. */
async function asking<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ServiceError(
      503,
      "blob_store_unavailable",
      "The store of the service's extensions and profiles cannot be used now; nothing was changed. Repeat the request in a moment. If this goes on, the service's operator must look at the store.",
      {
        // Without the answer itself, which tells of the request.
        cause: new Error(`the store at blob_store_url: ${describe(error)}`),
        retryAfterSeconds: 5,
      },
    );
  }
}

/** Pieces of a stream, put together to parts of one size; only the last may be smaller, and it may be empty. */
async function* partsOf(
  source: AsyncIterable<Buffer>,
  partBytes: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly last: boolean }, void, undefined> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (let piece of source) {
    while (length + piece.length > partBytes) {
      const head = piece.subarray(0, partBytes - length);
      yield { bytes: Buffer.concat([...pieces, head], partBytes), last: false };
      piece = piece.subarray(head.length);
      pieces = [];
      length = 0;
    }
    pieces.push(piece);
    length += piece.length;
  }
  yield { bytes: Buffer.concat(pieces, length), last: true };
}

function createArea(client: S3mini, prefix: string, scratch: string): Blobs {
  const keyOf = (name: string) => prefix + name;

  async function store(key: string, source: AsyncIterable<Buffer>, partBytes: number): Promise<void> {
    const parts: UploadPart[] = [];
    let upload: string | undefined;
    try {
      for await (const { bytes, last } of partsOf(source, partBytes)) {
        if (last && upload === undefined) {
          await asking(() => client.putObject(key, bytes));
          return;
        }
        upload ??= await asking(() => client.getMultipartUploadId(key));
        const id = upload;
        parts.push(await asking(() => client.uploadPart(key, id, bytes, parts.length + 1)));
      }
      const id = upload;
      if (id === undefined) return;
      await asking(async () => {
        // A store may find out that it cannot after it has begun to answer 200.
        const { etag } = await client.completeMultipartUpload(key, id, parts);
        if (typeof etag !== "string" || etag === "") throw new Error("it did not put the parts together");
      });
    } catch (error) {
      // If this fails too, the store's own rule for unfinished uploads removes it.
      if (upload !== undefined) await client.abortMultipartUpload(key, upload).catch(() => undefined);
      throw error;
    }
  }

  return {
    place: "in the store at blob_store_url. Every server must be given the same one.",

    async put(source, { maxBytes, check }) {
      const name = createId();
      const hash = createHash("sha256");
      let sizeBytes = 0;
      async function* measured(): AsyncGenerator<Buffer, void, undefined> {
        for await (const chunk of source as AsyncIterable<Buffer>) {
          sizeBytes += chunk.length;
          if (sizeBytes > maxBytes) throw new BlobTooLarge(`More than ${String(maxBytes)} bytes.`);
          hash.update(chunk);
          yield chunk;
        }
      }
      const partBytes = Math.max(smallestPartBytes, Math.ceil(maxBytes / maxParts));
      if (check === undefined) await store(keyOf(name), measured(), partBytes);
      else {
        const path = join(scratch, name);
        try {
          const file = await open(path, "wx", 0o600);
          try {
            for await (const chunk of measured()) await file.writeFile(chunk);
          } finally {
            await file.close();
          }
          await check(path);
          // What a file is read as, without an encoding.
          await store(keyOf(name), createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>, partBytes);
        } finally {
          await rm(path, { force: true });
        }
      }
      return { name, sizeBytes, sha256: hash.digest("hex") };
    },

    async get(name) {
      if (!isId(name)) return undefined;
      const response = await asking(() => client.getObjectResponse(keyOf(name)));
      if (response === null) return undefined;
      const sizeBytes = Number(response.headers.get("content-length") ?? Number.NaN);
      const { body } = response;
      if (body === null || !Number.isSafeInteger(sizeBytes)) {
        await body?.cancel();
        return asking(() => Promise.reject(new Error("it does not say how long an object is")));
      }
      // The type of the DOM, for the same object.
      const stream = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
      // A connection may break before anybody reads; who then reads is told.
      stream.on("error", () => undefined);
      return { stream, sizeBytes };
    },

    async delete(name) {
      if (!isId(name)) return;
      await asking(async () => {
        try {
          await client.deleteObject(keyOf(name));
        } catch (error) {
          // Most stores say that what is not there was removed.
          if (!(error instanceof S3ServiceError && error.status === 404)) throw error;
        }
      });
    },

    async *listOlderThan(date) {
      let token: string | undefined;
      do {
        const from = token;
        const page = await asking(() => client.listObjectsPaged("/", prefix, 1000, from));
        for (const { Key, LastModified } of page?.objects ?? []) {
          const name = Key.slice(prefix.length);
          if (isId(name) && new Date(LastModified) < date) yield name;
        }
        token = page?.nextContinuationToken;
      } while (token !== undefined);
    },
  };
}

const hints: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: "The store does not know the access key. Check it in blob_store_url, or in AWS_ACCESS_KEY_ID.",
  SignatureDoesNotMatch:
    "The secret is not the access key's. Check it in blob_store_url, where : / @ % and # are written as %3A %2F %40 %25 and %23, or in AWS_SECRET_ACCESS_KEY.",
  AccessDenied:
    "Let the access key put, get, delete and list objects of the bucket: s3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload and s3:ListBucket.",
  NoSuchBucket: "Make the bucket first; the service makes none.",
  AuthorizationHeaderMalformed: "The bucket is probably in another region: say which with ?region=.",
  PermanentRedirect: "The bucket is in another region: name that region's host, and the region with ?region=.",
  RequestTimeTooSkewed: "This machine's clock is wrong.",
};

/**
 * Blobs in an S3-compatible store, after something was put there and removed again.
 *
 * @returns what opens an area: objects lie at `<prefix><area>/<name>`, as files would below `blobs_dir`.
 * @throws {StartError} when the store does not let that be done.
 */
export async function openS3Blobs(options: S3Options): Promise<(area: string) => Blobs> {
  const { accessKey, bucket, endpoint, prefix, region, scratch, secretKey } = options;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const client = new S3mini({ accessKeyId: accessKey, secretAccessKey: secretKey, endpoint, region, fetch: fetchFromStore });
  const probe = `${prefix}checks/${createId()}`;
  try {
    await client.putObject(probe, "Shoal was started.");
    await client.deleteObject(probe);
  } catch (error) {
    const code = error instanceof S3ServiceError ? (error.serviceCode ?? "") : "";
    throw new StartError(`The service's files cannot be kept in bucket ${bucket} at ${new URL(endpoint).host}: ${describe(error)}.`, {
      hint: hints[code] ?? "Check blob_store_url: its host, port, bucket, ?region=, and &tls=false for a store without TLS.",
    });
  }
  return (area) => createArea(client, `${prefix}${area}/`, scratch);
}
