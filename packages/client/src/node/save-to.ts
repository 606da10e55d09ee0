import type { Download, DownloadProgress } from "@shoal/transport";
import { open, rename, rm } from "node:fs/promises";
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
 * end. A lost connection, an abort or a full disk does not change the existing file.
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
  const part = join(dirname(path), `.${basename(path)}.${crypto.randomUUID().slice(0, 8)}.part`);
  const reader = stream.getReader();
  let receivedBytes = 0;
  // Ends a pending read; checking the signal between chunks would wait for the next chunk.
  const onAbort = () => void reader.cancel(signal?.reason).catch(() => undefined);
  try {
    signal?.throwIfAborted();
    const file = await open(part, "wx");
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
      // Otherwise a power cut could leave an empty file under the final name.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
    return receivedBytes;
  } catch (error) {
    await reader.cancel(error).catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
