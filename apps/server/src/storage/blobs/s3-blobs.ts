import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { ServiceError } from "@shoal/router";
import { createReadStream } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createId, isId } from "@shoal/primitives";
import type { AwsKeys } from "../../config/aws-identity.ts";
import { StartError } from "../../config/start-error.ts";
import { answerOf, connectionFailure, credentialsOf, limitAnswer } from "./aws-sdk.ts";
import type { BlobRange, Blobs, PutOptions, StoredBlob } from "./blobs.ts";
import { BoundedContent } from "./measured-content.ts";
import type { S3Address } from "../../config/s3-address.ts";

export interface S3Options extends Pick<S3Address, "endpoint" | "bucket" | "prefix" | "region"> {
  /** `undefined` = the SDK's default chain. */
  readonly keys: AwsKeys | undefined;
  /** Folder for content that is checked before its upload; emptied at start. */
  readonly scratch: string;
}

/** Each part is in memory until the store has it. Stores accept parts of 5 MiB to 5 GiB, at most 10,000 per upload. */
const smallestPartBytes = 8 * 2 ** 20;
const maxParts = 10_000;
/** For uploading one part, and for the head of every answer. */
const answerWithinMs = 120_000;
const connectWithinMs = 10_000;
/** For answers that the SDK reads into memory; a page of a list has about 400 kB. */
const maxAnswerBytes = 4 * 2 ** 20;

function describe(error: unknown): string {
  const answer = answerOf(error);
  return answer === undefined
    ? connectionFailure(error)
    : `it answered ${String(answer.status)} ${answer.code}`.trimEnd();
}

function unavailable(error: unknown): ServiceError {
  return new ServiceError(
    503,
    "blob_store_unavailable",
    "The store of the service's files is unavailable; nothing was changed.",
    {
      hint: "Retry in a moment. If this persists, the operator of the service must check the store.",
      // Without the SDK's error, which contains the request.
      cause: new Error(`the store at blob_store_url: ${describe(error)}`),
      retryAfterSeconds: 5,
    },
  );
}

/** @throws {ServiceError} 503 for every failure of the store; all of them may pass. */
async function asking<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw unavailable(error);
  }
}

class S3Blobs implements Blobs {
  readonly place = "in the store at blob_store_url. Every server must use the same one.";
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #scratch: string;

  constructor(
    client: S3Client,
    options: { readonly bucket: string; readonly prefix: string; readonly scratch: string },
  ) {
    this.#client = client;
    this.#bucket = options.bucket;
    this.#prefix = options.prefix;
    this.#scratch = options.scratch;
  }

  async put(source: Readable, { check, maxBytes }: PutOptions): Promise<StoredBlob> {
    const name = createId();
    const content = new BoundedContent(source, maxBytes);
    try {
      if (check === undefined) await this.#upload(name, Readable.from(content.chunks()), maxBytes);
      else await this.#uploadChecked(name, content, { maxBytes, check });
    } catch (error) {
      throw content.failure === undefined ? error : content.failure.error;
    }
    return { name, sizeBytes: content.sizeBytes };
  }

  async #uploadChecked(
    name: string,
    content: BoundedContent,
    { check, maxBytes }: Required<PutOptions>,
  ): Promise<void> {
    const path = join(this.#scratch, name);
    try {
      await writeFile(path, content.chunks(), { flag: "wx", mode: 0o600 });
      await check(path);
      await this.#upload(name, createReadStream(path, { highWaterMark: 2 ** 20 }), maxBytes);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** If aborting an upload fails as well, the bucket's rule for incomplete uploads removes its parts. */
  async #upload(name: string, body: Readable, maxBytes: number): Promise<void> {
    const upload = new Upload({
      client: this.#client,
      params: { Bucket: this.#bucket, Key: this.#prefix + name, Body: body },
      partSize: Math.max(smallestPartBytes, Math.ceil(maxBytes / maxParts)),
      queueSize: 1,
    });
    await asking(() => upload.done());
  }

  async get(
    name: string,
    range?: BlobRange,
  ): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined> {
    if (!isId(name)) return undefined;
    const part = range && { Range: `bytes=${String(range.start)}-${String(range.end)}` };
    return asking(async () => {
      const found = await this.#client
        .send(new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + name, ...part }))
        .catch(ignoreMissing);
      if (found === undefined) return undefined;
      const { Body: stream, ContentLength: sizeBytes } = found;
      if (!(stream instanceof Readable)) throw new Error("the answer has no body");
      // The connection may break before the caller reads; the error is emitted again to its reader.
      stream.on("error", () => undefined);
      if (sizeBytes === undefined) {
        stream.destroy();
        throw new Error("the answer has no Content-Length");
      }
      return { stream, sizeBytes };
    });
  }

  async delete(name: string): Promise<void> {
    if (!isId(name)) return;
    await asking(async () => {
      await this.#client
        .send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + name }))
        .catch(ignoreMissing);
    });
  }

  async *listOlderThan(date: Date): AsyncGenerator<string, void, undefined> {
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: this.#prefix,
        Delimiter: "/",
        ContinuationToken: token,
      });
      const page = await asking(() => this.#client.send(command));
      for (const { Key = "", LastModified } of page.Contents ?? []) {
        const name = Key.slice(this.#prefix.length);
        if (isId(name) && LastModified !== undefined && LastModified < date) yield name;
      }
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (answerOf(error)?.status !== 404) throw error;
}

const hints: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: "The store does not know the access key. Check it in blob_store_url or AWS_ACCESS_KEY_ID.",
  SignatureDoesNotMatch:
    "The secret does not belong to the access key. Check it in blob_store_url, where : / @ % and # are written as %3A %2F %40 %25 and %23, or in AWS_SECRET_ACCESS_KEY.",
  AccessDenied:
    "Allow s3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload and s3:ListBucket on the bucket.",
  NoSuchBucket: "Create the bucket first.",
  AuthorizationHeaderMalformed: "The bucket is probably in another region; set it with ?region=.",
  PermanentRedirect: "The bucket is in another region; use the host of that region, and set it with ?region=.",
  RequestTimeTooSkewed: "The clock of this machine is wrong.",
  CredentialsProviderError:
    "Put credentials into blob_store_url (s3://key:secret@host/bucket), set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role.",
};

function cannotUse(error: unknown, { bucket, endpoint }: S3Options): StartError {
  const code = answerOf(error)?.code ?? (error instanceof Error ? error.name : "");
  return new StartError(`Cannot use bucket ${bucket} at ${new URL(endpoint).host}: ${describe(error)}.`, {
    hint: hints[code] ?? "Check blob_store_url: host, port, bucket, ?region=, and &tls=false for a store without TLS.",
  });
}

/**
 * Writes and deletes an object to test the store.
 * @returns a function that opens an area: its objects are `<prefix><area>/<name>`, like the files below `blobs_dir`.
 * @throws {StartError} when the store is unusable.
 */
export async function openS3Blobs(options: S3Options): Promise<(area: string) => Blobs> {
  const { bucket, endpoint, keys, prefix, region, scratch } = options;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    ...credentialsOf(keys),
    // Not every S3-compatible store supports the SDK's checksum trailers.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // A store that ignores this header would delay every part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: connectWithinMs,
      requestTimeout: answerWithinMs,
      throwOnRequestTimeout: true,
    },
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        return commandName === "GetObjectCommand" ? result : limitAnswer(result, maxAnswerBytes);
      },
    { step: "deserialize", priority: "low", name: "limitAnswer" },
  );
  const probe = { Bucket: bucket, Key: `${prefix}checks/${createId()}` };
  try {
    await client.send(new PutObjectCommand({ ...probe, Body: "Shoal was started." }));
    await client.send(new DeleteObjectCommand(probe));
  } catch (error) {
    throw cannotUse(error, options);
  }
  return (area) => new S3Blobs(client, { bucket, prefix: `${prefix}${area}/`, scratch });
}
