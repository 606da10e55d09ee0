import * as z from "zod/mini";
import { checked, type Schema } from "./schema.ts";

/** The pattern must also limit the length. */
const form = (pattern: RegExp, error: string) => checked(z.string(), z.regex(pattern, error));

/** Name of an S3 bucket: 3 to 63 lower-case letters, digits, hyphens and dots, each part between dots beginning and ending with a letter or digit, and no IP address. */
export const BucketName: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.minLength(3),
    z.maxLength(63),
    z.regex(
      /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
      "must be the name of a bucket: lower-case letters, digits, hyphens and dots, a letter or digit at both ends and on both sides of each dot",
    ),
    z.refine((name) => !/^(?:\d+\.){3}\d+$/.test(name), "must be the name of a bucket, not an IP address"),
  ),
);

/** What names of objects begin with, at most 512 characters: letters, digits, `_`, `-`, `=` and `.` between slashes, no part of it empty or beginning with a dot. */
export const KeyPrefix: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.maxLength(512),
    z.regex(
      /^(?:[A-Za-z0-9_=-][A-Za-z0-9._=-]*\/)*(?:[A-Za-z0-9_=-][A-Za-z0-9._=-]*)?$/,
      "must be letters, digits, _ - = and . between slashes, without a slash at its beginning, two slashes in a row, or a part that begins with a dot",
    ),
  ),
);

/** Name of an AWS region: `eu-central-1`. */
export const AwsRegion: Schema<string> = z.lazy(() =>
  form(/^[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/, "must be the name of an AWS region, such as eu-central-1"),
);

/** ARN of an IAM role: `arn:aws:iam::123456789012:role/audit`. */
export const RoleArn: Schema<string> = z.lazy(() =>
  form(
    /^arn:aws(?:-cn|-us-gov)?:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
    "must be the ARN of an IAM role, such as arn:aws:iam::123456789012:role/audit",
  ),
);

const kmsArn = String.raw`arn:aws(?:-cn|-us-gov)?:kms:[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}:\d{12}:`;
const kmsId = "(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})";
const kmsKey = String.raw`(?:${kmsId}|${kmsArn}key\/${kmsId}|(?:${kmsArn})?alias\/[\w/-]{1,250})`;
const kmsProblem = "must name a key of AWS KMS: its id, its ARN, or an alias such as alias/audit";

/** A key of AWS KMS: its id, its ARN, an alias, or an alias's ARN. */
export const KmsKey: Schema<string> = z.lazy(() => form(new RegExp(`^${kmsKey}$`), kmsProblem));

/** {@link KmsKey}, or an empty text, which takes the key away. */
export const KmsKeyOrNone: Schema<string> = z.lazy(() =>
  form(new RegExp(`^${kmsKey}?$`), `${kmsProblem}, or "" for none`),
);
