import type { Download, DownloadProgress } from "@shoal/transport";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Options of {@link saveTo}. */
export interface SaveOptions {
  /** Aborts, which then rejects with the signal's reason and deletes the partial file. */
  readonly signal?: AbortSignal | undefined;
  /** Called for every written chunk. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/**
 * Saves a download to a file, atomically: it writes to a temporary file in the same directory, which replaces an existing file at the
 * end. A lost connection, an abort or a full disk does not change the existing file, and a complete download keeps its permissions. A
 * symbolic link stays a link. Devices and named pipes receive the bytes as they arrive.
 *
 * @example
 * await saveTo(await shoal.browsers.fs.readFile(id, { path: "/home/shoal/report.pdf" }), "report.pdf");
 *
 * @param from - a download, or a stream, for example of `auditLogs.download`.
 * @param path - in an existing directory.
 * @returns the size of the file in bytes.
 * @throws the errors of the download (`ConnectionError`, `TimeoutError`) and of the file system (`ENOENT`, `ENOSPC`, …).
 */
export async function saveTo(
  from: Pick<Download, "stream" | "sizeBytes"> | ReadableStream<Uint8Array>,
  path: string,
  options: SaveOptions = {},
): Promise<number> {
  const { onProgress, signal } = options;
  const { stream, sizeBytes: totalBytes } = "stream" in from ? from : { stream: from, sizeBytes: undefined };
  const present = await stat(path).catch(() => undefined);
  // A rename would replace a device or a pipe by a regular file.
  const isInPlace = present !== undefined && !present.isFile();
  const target = isInPlace ? path : await realpath(path).catch(() => path);
  const mode = present === undefined ? undefined : present.mode & 0o777;
  const part = isInPlace ? path : join(dirname(target), `.${basename(target)}.${crypto.randomUUID().slice(0, 8)}.part`);
  const reader = stream.getReader();
  let receivedBytes = 0;
  // Ends a pending read; checking the signal between chunks would wait for the next chunk.
  const onAbort = () => void reader.cancel(signal?.reason).catch(() => undefined);
  try {
    signal?.throwIfAborted();
    const file = await open(part, isInPlace ? "w" : "wx", mode);
    try {
      signal?.addEventListener("abort", onAbort, { once: true });
      for (;;) {
        const { done, value } = await reader.read();
        signal?.throwIfAborted();
        if (done) break;
        await file.writeFile(value);
        receivedBytes += value.byteLength;
        onProgress?.({ receivedBytes, totalBytes });
      }
      if (isInPlace) return receivedBytes;
      // Without the bits that the umask has removed.
      if (mode !== undefined) await file.chmod(mode);
      // Otherwise a power cut could leave an empty file under the final name.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, target);
    return receivedBytes;
  } catch (error) {
    await reader.cancel(error).catch(() => undefined);
    if (!isInPlace) await rm(part, { force: true });
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
