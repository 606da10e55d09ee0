import { PutObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { anySignal } from "@shoal/primitives";
import { LRUCache } from "lru-cache";
import type { LookupFunction } from "node:net";
import { createHash } from "node:crypto";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { answerOf, connectionFailure, credentialsOf, limitAnswer } from "../../storage/blobs/aws-sdk.ts";
import type { AwsIdentity } from "../../config/aws-identity.ts";
import { AwsFailure } from "./aws-failure.ts";
import type { BucketPlace } from "./bucket-place.ts";

export interface BucketObject {
  /** Without the prefix. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly type: string;
  readonly keepPresent?: boolean;
}

/** Uses temporary credentials of its role. */
export interface Bucket {
  /** Writes an object whole or not at all. @throws {AwsFailure} when the store refuses it or does not answer. */
  put(object: BucketObject, signal: AbortSignal): Promise<void>;
}

export interface BucketWriterOptions {
  readonly identity: AwsIdentity;
  /** `undefined` = AWS, by region. */
  readonly stsUrl: string | undefined;
  /** `undefined` = AWS, by bucket and region. */
  readonly s3Url: string | undefined;
  /** Of the names of stores: a tenant chooses bucket and region. */
  readonly lookup: LookupFunction;
}

const maxConnections = 50;
export const assumeWithinMs = 10_000;
export const putWithinMs = 45_000;
const credentialsSeconds = 3600;
/** Credentials that expire sooner are renewed first. */
const renewBeforeMs = 5 * 60_000;
const maxOpenBuckets = 100;
const maxAnswerBytes = 65_536;

function clean(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, 500);
}

/** @throws {AwsFailure} with a message for people; the reason of `signal` when that aborted. */
async function asking<Result>(
  service: string,
  limits: { readonly signal: AbortSignal; readonly timeoutMs: number },
  send: (abortSignal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  try {
    return await send(anySignal([limits.signal, timeout]));
  } catch (error) {
    limits.signal.throwIfAborted();
    const answer = answerOf(error);
    if (answer === undefined) {
      const why = timeout.aborted ? `no answer within ${String(limits.timeoutMs / 1000)} s` : connectionFailure(error);
      throw new AwsFailure(`${service} could not be reached: ${clean(why)}.`, { cause: error });
    }
    const message = error instanceof Error && error.message !== answer.code ? error.message : "";
    throw new AwsFailure(
      clean(
        `${service} answered ${`${String(answer.status)} ${answer.code}`.trimEnd()}${message === "" ? "." : `: ${message}`}`,
      ),
      { status: answer.status },
    );
  }
}

const middleware = { step: "deserialize", priority: "low", name: "limitAnswer" } as const;

class AwsBucket implements Bucket {
  readonly #client: S3Client;
  readonly #place: BucketPlace;
  readonly #service: string;
  readonly #onFailure: () => void;

  constructor(
    client: S3Client,
    place: BucketPlace,
    options: { readonly service: string; readonly onFailure: () => void },
  ) {
    this.#client = client;
    this.#place = place;
    this.#service = options.service;
    this.#onFailure = options.onFailure;
  }

  async put({ bytes, keepPresent = false, name, type }: BucketObject, signal: AbortSignal): Promise<void> {
    const { bucket, kmsKeyId, prefix } = this.#place;
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: prefix + name,
      Body: bytes,
      ContentType: type,
      // Buckets with object lock require a checksum.
      ChecksumSHA256: createHash("sha256").update(bytes).digest("base64"),
      ...(kmsKeyId !== undefined && { ServerSideEncryption: "aws:kms", SSEKMSKeyId: kmsKeyId }),
      ...(keepPresent && { IfNoneMatch: "*" }),
    });
    try {
      await asking(this.#service, { signal, timeoutMs: putWithinMs }, (abortSignal) =>
        this.#client.send(command, { abortSignal }),
      );
    } catch (error) {
      if (keepPresent && error instanceof AwsFailure && error.status === 412) return;
      this.#onFailure();
      throw error;
    }
  }
}

export class BucketWriter {
  readonly #sts: STSClient;
  readonly #stsName: string;
  readonly #s3Url: string | undefined;
  readonly #open = new LRUCache<string, { readonly bucket: Bucket; readonly expiresAtMs: number }>({
    max: maxOpenBuckets,
  });

  constructor({ identity, lookup, s3Url, stsUrl }: BucketWriterOptions) {
    const agent = { keepAlive: true, maxSockets: maxConnections, lookup };
    this.#s3Url = s3Url;
    this.#stsName = `AWS STS at ${stsUrl === undefined ? identity.region : new URL(stsUrl).host}`;
    this.#sts = new STSClient({
      region: identity.region,
      ...(stsUrl !== undefined && { endpoint: stsUrl }),
      ...credentialsOf(identity.keys),
      maxAttempts: 1,
      requestHandler: { httpAgent: new HttpAgent(agent), httpsAgent: new HttpsAgent(agent) },
    });
    this.#sts.middlewareStack.add((next) => async (args) => limitAnswer(await next(args), maxAnswerBytes), middleware);
  }

  /**
   * Returns the same bucket until the credentials of the role expire.
   * @param options.fresh - always ask STS. @throws {AwsFailure} when STS refuses the role or does not answer.
   */
  async open(
    place: BucketPlace,
    { fresh = false, signal }: { readonly signal: AbortSignal; readonly fresh?: boolean },
  ): Promise<Bucket> {
    const id = JSON.stringify(place);
    const known = this.#open.get(id);
    if (!fresh && known !== undefined && known.expiresAtMs - renewBeforeMs > Date.now()) return known.bucket;
    this.#open.delete(id);
    const command = new AssumeRoleCommand({
      RoleArn: place.roleArn,
      RoleSessionName: "shoal-audit-export",
      ExternalId: place.externalId,
      DurationSeconds: credentialsSeconds,
    });
    const { Credentials: credentials } = await asking(
      this.#stsName,
      { signal, timeoutMs: assumeWithinMs },
      (abortSignal) => this.#sts.send(command, { abortSignal }),
    );
    const { AccessKeyId, Expiration, SecretAccessKey, SessionToken } = credentials ?? {};
    if (AccessKeyId === undefined || SecretAccessKey === undefined || Expiration === undefined)
      throw new AwsFailure(`${this.#stsName} answered without credentials.`);
    const client = this.#clientFor(place, {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      ...(SessionToken !== undefined && { sessionToken: SessionToken }),
    });
    const bucket = new AwsBucket(client, place, {
      service: `The store at ${this.#s3Url === undefined ? `AWS in ${place.region}` : new URL(this.#s3Url).host}`,
      // The credentials may have expired, or the role may have changed.
      onFailure: () => this.#open.delete(id),
    });
    this.#open.set(id, { bucket, expiresAtMs: Expiration.getTime() });
    return bucket;
  }

  #clientFor(place: BucketPlace, credentials: NonNullable<S3ClientConfig["credentials"]>): S3Client {
    const client = new S3Client({
      region: place.region,
      ...(this.#s3Url !== undefined && { endpoint: this.#s3Url, forcePathStyle: true }),
      credentials,
      maxAttempts: 1,
      requestChecksumCalculation: "WHEN_REQUIRED",
      expectContinueHeader: false,
      // Shares the connections.
      requestHandler: this.#sts.config.requestHandler,
    });
    client.middlewareStack.add((next) => async (args) => limitAnswer(await next(args), maxAnswerBytes), middleware);
    return client;
  }
}
