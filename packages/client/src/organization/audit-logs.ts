import {
  createAuditLogExportDestination,
  deleteAuditLogExportDestination,
  exportAuditLogsChunk,
  getAuditLogExportDestination,
  listAuditLogExportDestinations,
  listAuditLogs,
  testAuditLogExportDestination,
  updateAuditLogExportDestination,
  verifyAuditLogs,
} from "@shoal/contract";
import type {
  AuditLogEntry,
  AuditLogExportDestination,
  AuditLogExportDestinationTestResult,
  AuditLogVerification,
  CreateAuditLogExportDestination,
  ExportAuditLogs,
  ListAuditLogExportDestinations,
  ListAuditLogs,
  UpdateAuditLogExportDestination,
  VerifyAuditLogs,
} from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";
import { auditLogChunks, type AuditLogDownloadOptions } from "./audit-log-download.ts";

/** Buckets that continuously receive the audit log. */
export class AuditLogExportDestinations {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a paused destination. Call {@link test}, then set its `status` to `active`. */
  create(body: CreateAuditLogExportDestination, options?: CallOptions): Call<AuditLogExportDestination> {
    return this.#transport.call(createAuditLogExportDestination, { body }, options);
  }
  /** Lists destinations, newest first. `for await` iterates over all pages. */
  list(query: ListAuditLogExportDestinations = {}, options?: CallOptions): Call<ItemPage<AuditLogExportDestination>> {
    return this.#transport.call(listAuditLogExportDestinations, { query }, options);
  }
  /** Gets a destination with its progress and last error. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<AuditLogExportDestination> {
    return this.#transport.call(getAuditLogExportDestination, { params: { id } }, options);
  }
  /** Changes the given fields of a destination, pauses or resumes it. @throws {ApiError} 404 `not_found`; 409 for a concurrent change. */
  update(id: string, body: UpdateAuditLogExportDestination, options?: CallOptions): Call<AuditLogExportDestination> {
    return this.#transport.call(updateAuditLogExportDestination, { params: { id }, body }, options);
  }
  /** Deletes a destination. Written objects stay in the bucket. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteAuditLogExportDestination, { params: { id } }, options);
  }
  /** Writes a test object. Resolves with `success: false` when the bucket rejects it. @throws {ApiError} 404 `not_found`. */
  test(id: string, options?: CallOptions): Call<AuditLogExportDestinationTestResult> {
    return this.#transport.call(testAuditLogExportDestination, { params: { id } }, options);
  }
}

/** The audit log of the service. */
export class AuditLogs {
  readonly exportDestinations: AuditLogExportDestinations;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.exportDestinations = new AuditLogExportDestinations(transport);
  }

  /** Lists entries of at most 30 days, newest first. `for await` iterates over all pages. @throws {ApiError} 400 for a longer period. */
  list(query: ListAuditLogs, options?: CallOptions): Call<ItemPage<AuditLogEntry>> {
    return this.#transport.call(listAuditLogs, { query }, options);
  }
  /** Downloads one chunk; {@link download} fetches all of them. The position is in `headers` of the result: `x-has-more`, `x-next-cursor`, `x-row-count`, `x-content-sha256`. */
  exportChunk(query: ExportAuditLogs, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(exportAuditLogsChunk, { query }, options);
  }
  /**
   * Checks that no entry was changed or removed. Store the `head` elsewhere and pass it as `known_head` later, to detect a log that
   * was reset to an earlier state.
   * @throws {ApiError} 403 `forbidden` for a key of one project.
   */
  verify(query: VerifyAuditLogs = {}, options?: CallOptions): Call<AuditLogVerification> {
    return this.#transport.call(verifyAuditLogs, { query }, options);
  }
  /**
   * Downloads all entries of at most 30 days, newest first: a gzip file with one JSON entry per line; with `format: "jsonl"` uncompressed.
   * Chunks are fetched on demand. Each one is buffered until its SHA-256 is checked, and fetched again when it is wrong.
   *
   * @example
   * const log = shoal.auditLogs.download({ start: "2026-01-01T00:00:00Z", end: "2026-01-31T00:00:00Z" });
   * await saveTo(log, "audit.jsonl.gz"); // of @shoal/client/node
   *
   * @param query - `limit`: entries per chunk; `cursor`: resumes an earlier download.
   * @returns a stream, which fails with the errors of a call.
   */
  download(query: ExportAuditLogs, options: AuditLogDownloadOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    const chunks = auditLogChunks(this.#transport, query, options);
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await chunks.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
  }
}
