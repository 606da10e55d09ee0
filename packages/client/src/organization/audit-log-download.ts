import { exportAuditLogsChunk } from "@shoal/contract";
import type { ExportAuditLogs } from "@shoal/schemas";
import {
  ConnectionError,
  ContractError,
  pause,
  TimeoutError,
  type Download,
  type DownloadOptions,
  type Transport,
} from "@shoal/transport";

/** Progress of an audit log download. */
export interface AuditLogProgress {
  readonly chunks: number;
  /** Entries in them. */
  readonly rows: number;
  readonly receivedBytes: number;
}

/** Options of an audit log download. */
export interface AuditLogDownloadOptions extends Omit<
  DownloadOptions,
  "onDownloadProgress" | "onUploadProgress" | "totalTimeoutMs"
> {
  /** Called for every complete chunk. */
  readonly onProgress?: ((progress: AuditLogProgress) => void) | undefined;
}

interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rows: number;
  readonly nextCursor: string | undefined;
}

/** Attempts per chunk with a wrong checksum. */
const maxTries = 6;
const maxRows = 50_000;
const longestPauseMs = 8000;

/** In order; each is fetched on demand and checked by its SHA-256. */
export async function* auditLogChunks(
  transport: Transport,
  query: ExportAuditLogs,
  options: AuditLogDownloadOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  const { onProgress, ...callOptions } = options;
  // Pages over plain HTTP have no crypto.subtle.
  if ((globalThis.crypto as Partial<Crypto>).subtle === undefined)
    throw new TypeError("auditLogs.download needs SHA-256, which pages without HTTPS do not have.");
  const seen = new Set<string>();
  let progress: AuditLogProgress = { chunks: 0, rows: 0, receivedBytes: 0 };
  for (let cursor = query.cursor; ;) {
    if (cursor !== undefined) seen.add(cursor);
    const { bytes, nextCursor, rows } = await chunkAt(
      transport,
      { ...query, ...(cursor !== undefined && { cursor }) },
      callOptions,
    );
    progress = {
      chunks: progress.chunks + 1,
      rows: progress.rows + rows,
      receivedBytes: progress.receivedBytes + bytes.byteLength,
    };
    onProgress?.(progress);
    yield bytes;
    if (nextCursor === undefined) return undefined;
    if (seen.has(nextCursor)) throw mismatch("x-next-cursor", "repeated cursor");
    cursor = nextCursor;
  }
}

async function chunkAt(transport: Transport, query: ExportAuditLogs, options: DownloadOptions): Promise<Chunk> {
  for (let attempt = 1; ; attempt += 1) {
    // The transport has already retried the request.
    const download = await transport.download(exportAuditLogsChunk, { query }, options);
    try {
      return await readChunk(download);
    } catch (error) {
      const broken =
        ConnectionError.isInstance(error) || TimeoutError.isInstance(error) || error instanceof BrokenChunk;
      if (!broken || attempt >= maxTries)
        throw error instanceof BrokenChunk
          ? mismatch("x-content-sha256", "the bytes that came have another SHA-256")
          : error;
      await pause(Math.min(longestPauseMs, 125 * 2 ** attempt), options.signal);
    }
  }
}

/** The checksum is wrong; a retry may help. */
class BrokenChunk extends Error {}

async function readChunk({ headers, stream }: Download): Promise<Chunk> {
  const more = headers.get("x-has-more");
  const rows = headers.get("x-row-count") ?? "";
  const sum = headers.get("x-content-sha256") ?? "";
  const nextCursor = headers.get("x-next-cursor") ?? undefined;
  try {
    if (more !== "true" && more !== "false") throw mismatch("x-has-more", "expected true or false");
    if (!/^\d{1,5}$/.test(rows) || Number(rows) > maxRows)
      throw mismatch("x-row-count", `expected a number up to ${maxRows}`);
    if (!/^[0-9a-f]{64}$/.test(sum)) throw mismatch("x-content-sha256", "expected 64 hexadecimal digits in lower case");
    if ((more === "true") !== (nextCursor !== undefined))
      throw mismatch(
        "x-next-cursor",
        more === "true" ? "expected the cursor of the next chunk" : "expected no cursor after the last chunk",
      );
  } catch (error) {
    await stream.cancel();
    throw error;
  }
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  if (Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") !== sum) throw new BrokenChunk();
  return { bytes, rows: Number(rows), nextCursor };
}

function mismatch(header: string, problem: string): ContractError {
  const path = `headers.${header}`;
  return new ContractError(
    `The answer to ${exportAuditLogsChunk.operationId} does not fit the contract: ${path}: ${problem}.`,
    path,
  );
}
