import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";

/**
 * Opens a file on disk for an upload. It is read in pieces while it is sent, and can be sent repeatedly.
 * @param path - path of a regular file. Reading fails when the file changes before it is sent.
 * @param options - `type`: MIME type, default `application/octet-stream`.
 * @throws the system error (`ENOENT`, `EACCES`, …), or a `TypeError` when it is not a regular file.
 */
export async function fileFromPath(path: string, options: { readonly type?: string } = {}): Promise<File> {
  const info = await stat(path);
  if (!info.isFile())
    throw new TypeError(`${path} is not a regular file${info.isDirectory() ? " but a directory" : ""}.`);
  return new File([await openAsBlob(path, options)], basename(path), options);
}
