import { createHash } from "node:crypto";
import { type AwsIdentity, bucketUrl, stsUrl } from "./aws-identity.ts";
import { AwsFailure } from "./aws-failure.ts";
import { type AwsKeys, elementIn, sendSigned } from "./aws-requests.ts";
import type { BucketPlace } from "./bucket-place.ts";

/** Writes into buckets of others. */
export interface BucketWriter {
  /**
   * Keys for a place, of the role that it names; the same as before while they hold.
   *
   * @param options.fresh - ask in any case.
   * @throws {AwsFailure} when the role is not given.
   */
  assume(place: BucketPlace, options: { readonly signal: AbortSignal; readonly fresh?: boolean }): Promise<AwsKeys>;
  /**
   * Writes an object whole or not at all.
   *
   * @param object.name - follows the place's prefix.
   * @param object.keepPresent - leaves one of that name as it is.
   * @throws {AwsFailure} when the store does not take it.
   */
  put(
    place: BucketPlace,
    keys: AwsKeys,
    object: { readonly name: string; readonly bytes: Buffer; readonly type: string; readonly keepPresent?: boolean; readonly signal: AbortSignal },
  ): Promise<void>;
}

/** Who the service is, and where it asks. */
export interface BucketWriterOptions {
  readonly identity: AwsIdentity;
  /** `undefined` = of AWS, by region. */
  readonly stsUrl: string | undefined;
  /** `undefined` = of AWS, by bucket and region. */
  readonly s3Url: string | undefined;
}

/** How long STS may take. */
export const assumeWithinMs = 10_000;
/** How long an object may take. */
export const putWithinMs = 45_000;
const keysHoldSeconds = 3600;
/** Keys that end sooner are not used for another object. */
const renewBeforeMs = 5 * 60_000;
const maxKept = 100;

function encoded(key: string): string {
  // As S3 writes it when it checks the signature: letters, digits, - _ . ~ and slashes alone stand for themselves.
  return key
    .split("/")
    .map((part) => encodeURIComponent(part).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`))
    .join("/");
}

export function createBucketWriter({ identity, ...urls }: BucketWriterOptions): BucketWriter {
  const kept = new Map<string, { readonly keys: AwsKeys; readonly endsAtMs: number }>();
  const idOf = ({ externalId, roleArn }: BucketPlace) => `${externalId} ${roleArn}`;

  return {
    async assume(place, { fresh = false, signal }) {
      const id = idOf(place);
      const known = kept.get(id);
      if (!fresh && known !== undefined && known.endsAtMs - renewBeforeMs > Date.now()) return known.keys;
      kept.delete(id);
      const form = new URLSearchParams({
        Action: "AssumeRole",
        Version: "2011-06-15",
        RoleArn: place.roleArn,
        RoleSessionName: "shoal-audit-export",
        ExternalId: place.externalId,
        DurationSeconds: String(keysHoldSeconds),
      });
      const url = new URL(urls.stsUrl ?? stsUrl(identity.region));
      const { text } = await sendSigned(
        {
          service: "sts",
          region: identity.region,
          method: "POST",
          url,
          headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
          body: Buffer.from(form.toString()),
          signal,
          timeoutMs: assumeWithinMs,
        },
        identity,
      );
      const [accessKey, secretKey, sessionToken] = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map((name) => elementIn(text, name));
      const endsAtMs = Date.parse(elementIn(text, "Expiration") ?? "");
      if (accessKey === undefined || secretKey === undefined || sessionToken === undefined || Number.isNaN(endsAtMs))
        throw new AwsFailure(`AWS STS at ${url.host} gave an answer without keys.`);
      const keys = { accessKey, secretKey, sessionToken };
      if (kept.size >= maxKept) kept.clear();
      kept.set(id, { keys, endsAtMs });
      return keys;
    },

    async put(place, keys, { bytes, keepPresent = false, name, signal, type }) {
      const base = urls.s3Url === undefined ? bucketUrl(place.bucket, place.region) : `${urls.s3Url.replace(/\/+$/, "")}/${place.bucket}`;
      const headers: Record<string, string> = {
        "content-type": type,
        "x-amz-content-sha256": createHash("sha256").update(bytes).digest("hex"),
        // Buckets whose objects are locked ask for a checksum.
        "x-amz-checksum-sha256": createHash("sha256").update(bytes).digest("base64"),
        ...(place.kmsKeyId !== undefined && {
          "x-amz-server-side-encryption": "aws:kms",
          "x-amz-server-side-encryption-aws-kms-key-id": place.kmsKeyId,
        }),
        ...(keepPresent && { "if-none-match": "*" }),
      };
      try {
        await sendSigned(
          {
            service: "s3",
            region: place.region,
            method: "PUT",
            url: new URL(`${base}/${encoded(place.prefix + name)}`),
            headers,
            body: bytes,
            signal,
            timeoutMs: putWithinMs,
          },
          keys,
        );
      } catch (error) {
        if (keepPresent && error instanceof AwsFailure && error.status === 412) return;
        // They may have ended, or the role may be another by now.
        kept.delete(idOf(place));
        throw error;
      }
    },
  };
}
