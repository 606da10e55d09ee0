import type { Download, DownloadProgress } from "@shoal/transport";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** How a download is saved. */
export interface SaveOptions {
  /** Stops, which then rejects with the signal's own reason and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
  /** Told of every chunk that was written. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/**
 * Saves what is downloaded as a file of this machine. The file appears whole or not at all, under another name beside it until then;
 * one that was there before is replaced. A lost connection, an abort or a full disk leaves it as it was.
 *
 * @example
 * await saveTo(await shoal.browsers.fs.readFile(id, { path: "/home/shoal/report.pdf" }), "report.pdf");
 *
 * @param from - a download, or a stream as `auditLogs.download` gives.
 * @param path - of a file in a directory that exists.
 * @returns the size of the file in bytes.
 * @throws what the download's stream fails with (`ConnectionError`, `TimeoutError`); the system's error (`ENOENT`, `ENOSPC`, …).
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
  // A pending read ends with it, where a look at the signal between two chunks would wait for the next one.
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
      // A name that a power cut leaves must not stand for an empty file.
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
