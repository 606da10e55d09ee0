import type { DestinationRow } from "./destination-store.ts";

/** Where objects go, and as whom. */
export interface BucketPlace {
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  readonly roleArn: string;
  readonly externalId: string;
  /** `undefined` = the bucket's default. */
  readonly kmsKeyId: string | undefined;
}

/** Where a destination's objects go. */
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
