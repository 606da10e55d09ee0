import { exportAuditLogsChunk } from "@shoal/contract";
import type { ExportAuditLogs } from "@shoal/schemas";
import { ConnectionError, ContractError, pause, TimeoutError, type Download, type DownloadOptions, type Transport } from "@shoal/transport";

/** How far the download of an audit log is. */
export interface AuditLogProgress {
  /** Chunks that came whole. */
  readonly chunks: number;
  /** Entries in them. */
  readonly rows: number;
  /** Bytes of them, as they came. */
  readonly receivedBytes: number;
}

/** How an audit log is downloaded. */
export interface AuditLogDownloadOptions extends Omit<DownloadOptions, "onDownloadProgress" | "onUploadProgress" | "totalTimeoutMs"> {
  /** Told of every chunk that came whole. */
  readonly onProgress?: ((progress: AuditLogProgress) => void) | undefined;
}

interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rows: number;
  readonly nextCursor: string | undefined;
}

/** Tries of one chunk whose bytes do not come whole. */
const maxTries = 6;
const maxRows = 50_000;
const longestPauseMs = 8000;

/** All chunks one after another, each fetched when it is asked for and handed on when its SHA-256 is right. */
export async function* auditLogChunks(
  transport: Transport,
  query: ExportAuditLogs,
  options: AuditLogDownloadOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  const { onProgress, ...callOptions } = options;
  // Before anything is sent: pages that came over plain http have none.
  if ((globalThis.crypto as Partial<Crypto>).subtle === undefined)
    throw new TypeError("auditLogs.download checks SHA-256 sums, which this page cannot do: open it over https.");
  const seen = new Set<string>();
  let progress: AuditLogProgress = { chunks: 0, rows: 0, receivedBytes: 0 };
  for (let cursor = query.cursor; ;) {
    if (cursor !== undefined) seen.add(cursor);
    const { bytes, nextCursor, rows } = await chunkAt(transport, { ...query, ...(cursor !== undefined && { cursor }) }, callOptions);
    progress = { chunks: progress.chunks + 1, rows: progress.rows + rows, receivedBytes: progress.receivedBytes + bytes.byteLength };
    onProgress?.(progress);
    yield bytes;
    if (nextCursor === undefined) return undefined;
    if (seen.has(nextCursor)) throw mismatch("x-next-cursor", "a cursor that was given before leads round in a circle");
    cursor = nextCursor;
  }
}

async function chunkAt(transport: Transport, query: ExportAuditLogs, options: DownloadOptions): Promise<Chunk> {
  for (let attempt = 1; ; attempt += 1) {
    // The transport has repeated the request itself where that helps.
    const download = await transport.download(exportAuditLogsChunk, { query }, options);
    try {
      return await readChunk(download);
    } catch (error) {
      const broken = ConnectionError.isInstance(error) || TimeoutError.isInstance(error) || error instanceof BrokenChunk;
      if (!broken || attempt >= maxTries)
        throw error instanceof BrokenChunk ? mismatch("x-content-sha256", "the bytes that came have another SHA-256") : error;
      await pause(Math.min(longestPauseMs, 125 * 2 ** attempt), options.signal);
    }
  }
}

/** The bytes are not those that were sent; another try may bring them. */
class BrokenChunk extends Error {}

async function readChunk({ headers, stream }: Download): Promise<Chunk> {
  const more = headers.get("x-has-more");
  const rows = headers.get("x-row-count") ?? "";
  const sum = headers.get("x-content-sha256") ?? "";
  const nextCursor = headers.get("x-next-cursor") ?? undefined;
  try {
    if (more !== "true" && more !== "false") throw mismatch("x-has-more", "expected true or false");
    if (!/^\d{1,5}$/.test(rows) || Number(rows) > maxRows) throw mismatch("x-row-count", `expected a number up to ${maxRows}`);
    if (!/^[0-9a-f]{64}$/.test(sum)) throw mismatch("x-content-sha256", "expected 64 hexadecimal digits in lower case");
    if ((more === "true") !== (nextCursor !== undefined))
      throw mismatch("x-next-cursor", more === "true" ? "expected the cursor of the next chunk" : "there is no next chunk, and yet a cursor");
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
  return new ContractError(`The answer to ${exportAuditLogsChunk.operationId} does not fit the contract: ${path}: ${problem}.`, path);
}
