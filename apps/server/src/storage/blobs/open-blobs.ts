import { join } from "node:path";
import type { Config } from "../../config/settings.ts";
import { StartError } from "../../config/start-error.ts";
import { withAwsSdk } from "./aws-sdk.ts";
import { type Blobs, createFileBlobs } from "./blobs.ts";
import { readS3Address } from "../../config/s3-address.ts";

/** Each area is swept separately, against the rows of one table. */
export type BlobArea = "deployments" | "extensions" | "network-recordings" | "profiles" | "sessions" | "snapshots";

type Settings = Pick<Config, "blobs_dir" | "blob_store_url" | "blob_store_access_key" | "blob_store_secret_key">;

function wrong(message: string, hint: string): StartError {
  return new StartError(message, { hint, exitCode: 2 });
}

/**
 * Opens an S3-compatible store when `blob_store_url` is set, else files. @throws {StartError} for unusable settings.
 * @param mayDelete - of files: see `createFileBlobs`.
 */
export async function openBlobs(
  settings: Settings,
  dataDir: string,
  mayDelete?: () => Promise<boolean>,
): Promise<(area: BlobArea) => Blobs> {
  const { blob_store_access_key, blob_store_secret_key, blob_store_url, blobs_dir } = settings;
  if (blob_store_url === undefined) {
    const folder = blobs_dir ?? join(dataDir, "blobs");
    return (area) => createFileBlobs(join(folder, area), mayDelete);
  }
  if (blobs_dir !== undefined)
    throw wrong(
      "blobs_dir and blob_store_url are both set.",
      "Set one: extensions and profiles are stored either in a folder or in a store.",
    );
  const address = readS3Address(blob_store_url);
  if (typeof address === "string")
    throw wrong(`blob_store_url ${address}.`, "See the table of settings in the service's README.");
  const accessKey = address.accessKey ?? blob_store_access_key;
  const secretKey = address.secretKey ?? blob_store_secret_key;
  if ((accessKey === undefined) !== (secretKey === undefined))
    throw wrong("blob_store_access_key and blob_store_secret_key must be set together.", "Set both or neither.");
  if (accessKey?.startsWith("ASIA") === true)
    throw wrong(
      "The access key for blob_store_url is temporary and would expire while the service runs.",
      "Use a permanent key (AKIA…), or set no key: the service then uses AWS_SESSION_TOKEN, the AWS profile or the role of this machine.",
    );
  const { openS3Blobs } = await withAwsSdk("blob_store_url", () => import("./s3-blobs.ts"));
  return openS3Blobs({
    ...address,
    keys: accessKey === undefined || secretKey === undefined ? undefined : { accessKey, secretKey },
    scratch: join(dataDir, "incoming"),
  });
}
