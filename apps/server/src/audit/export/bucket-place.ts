import type { DestinationRow } from "./destination-store.ts";

export interface BucketPlace {
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  readonly roleArn: string;
  readonly externalId: string;
  /** `undefined` = default key of the bucket. */
  readonly kmsKeyId: string | undefined;
}

export function placeOf(row: DestinationRow): BucketPlace {
  return {
    bucket: row.bucket,
    prefix: row.prefix,
    region: row.region,
    roleArn: row.role_arn,
    externalId: row.external_id,
    kmsKeyId: row.kms_key_id ?? undefined,
  };
}
