import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";

/**
 * A file on disk, to upload. Nothing is read before it is sent, and then piece by piece, however large it is; it can be sent again.
 *
 * @param path - of a regular file. It must not change until it is sent: reading it then fails.
 * @param options - `type`: its MIME type, `application/octet-stream` where it matters and none is given.
 * @throws the system's error (`ENOENT`, `EACCES`, …), or a `TypeError` when it is not a regular file.
 */
export async function fileFromPath(path: string, options: { readonly type?: string } = {}): Promise<File> {
  const info = await stat(path);
  if (!info.isFile()) throw new TypeError(`${path} is not a regular file${info.isDirectory() ? " but a directory" : ""}.`);
  return new File([await openAsBlob(path, options)], basename(path), options);
}
