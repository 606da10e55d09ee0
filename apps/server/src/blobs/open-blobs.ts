import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { StartError } from "../start-error.ts";
import { type Blobs, createFileBlobs } from "./blobs.ts";
import { readS3Address } from "./s3-address.ts";

/** What belongs together, and is swept by its own rows. */
export type BlobArea = "extensions" | "profiles";

type Settings = Pick<Config, "blobs_dir" | "blob_store_url" | "blob_store_access_key" | "blob_store_secret_key">;

function wrong(message: string, hint: string): StartError {
  return new StartError(message, { hint, exitCode: 2 });
}

/**
 * The service's blobs: files, or an S3-compatible store where `blob_store_url` names one.
 *
 * @param dataDir - of this server alone.
 * @throws {StartError} when settings do not go together, or the store cannot be used.
 */
export async function openBlobs(settings: Settings, dataDir: string): Promise<(area: BlobArea) => Blobs> {
  const { blob_store_access_key, blob_store_secret_key, blob_store_url, blobs_dir } = settings;
  if (blob_store_url === undefined) {
    const folder = blobs_dir ?? join(dataDir, "blobs");
    return (area) => createFileBlobs(join(folder, area));
  }
  if (blobs_dir !== undefined)
    throw wrong("Both blobs_dir and blob_store_url are given.", "Give one: extensions and saved profiles lie in a folder or in a store.");
  const address = readS3Address(blob_store_url);
  if (typeof address === "string") throw wrong(`blob_store_url ${address}.`, "See the table of settings in the service's README.");
  const accessKey = address.accessKey ?? blob_store_access_key;
  const secretKey = address.secretKey ?? blob_store_secret_key;
  if (accessKey === undefined || secretKey === undefined) {
    throw wrong(
      "The store of blob_store_url has no credentials.",
      "Put them into it, s3://key:secret@host/bucket, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    );
  }
  if (accessKey.startsWith("ASIA"))
    throw wrong(
      "The access key of blob_store_url is a temporary one, which ends while the service runs.",
      "Use an access key of a user, which begins with AKIA.",
    );
  // Who keeps files does without the client.
  const { openS3Blobs } = await import("./s3-blobs.ts");
  return openS3Blobs({ ...address, accessKey, secretKey, scratch: join(dataDir, "incoming") });
}
