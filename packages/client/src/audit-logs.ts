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
import type { CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";
import { auditLogChunks, type AuditLogDownloadOptions } from "./audit-log-download.ts";

/** Buckets that the audit log is written to as it grows. */
export class AuditLogExportDestinations {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a destination, which is paused: {@link test} it, then set its `status` to `active`. */
  create(body: CreateAuditLogExportDestination, options?: CallOptions): Promise<AuditLogExportDestination> {
    return this.#transport.call(createAuditLogExportDestination, { body }, options);
  }
  /** Lists destinations, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListAuditLogExportDestinations = {}, options?: CallOptions): Promise<ItemPage<AuditLogExportDestination>> {
    return this.#transport.call(listAuditLogExportDestinations, { query }, options);
  }
  /** Finds a destination: how far it has come, and what it last failed with. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<AuditLogExportDestination> {
    return this.#transport.call(getAuditLogExportDestination, { params: { id } }, options);
  }
  /** Changes, pauses or goes on with a destination; fields that are absent stay as they are. @throws {ApiError} 404 `not_found`; 409 when somebody changes it at the same time. */
  update(id: string, body: UpdateAuditLogExportDestination, options?: CallOptions): Promise<AuditLogExportDestination> {
    return this.#transport.call(updateAuditLogExportDestination, { params: { id }, body }, options);
  }
  /** Deletes a destination; what was written stays in the bucket. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteAuditLogExportDestination, { params: { id } }, options);
  }
  /** Writes one object, as an export does. Resolves with `success: false` when the bucket says no. @throws {ApiError} 404 `not_found`. */
  test(id: string, options?: CallOptions): Promise<AuditLogExportDestinationTestResult> {
    return this.#transport.call(testAuditLogExportDestination, { params: { id } }, options);
  }
}

/** Who asked what of the service. */
export class AuditLogs {
  /** Where the log is written to as it grows. */
  readonly exportDestinations: AuditLogExportDestinations;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.exportDestinations = new AuditLogExportDestinations(transport);
  }

  /** Lists entries, newest first, of at most 30 days. `for await` over the page gives all of them, page by page. @throws {ApiError} 400 for a longer time. */
  list(query: ListAuditLogs, options?: CallOptions): Promise<ItemPage<AuditLogEntry>> {
    return this.#transport.call(listAuditLogs, { query }, options);
  }
  /** Downloads one chunk; {@link download} fetches all of them. What comes next stands in `headers` of the answer: `x-has-more`, `x-next-cursor`, `x-row-count`, `x-content-sha256`. */
  exportChunk(query: ExportAuditLogs, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(exportAuditLogsChunk, { query }, options);
  }
  /**
   * Checks that every entry is as it was written and that none is missing. Note the `head` somewhere else and give it as `known_head` later: then the log cannot
   * be put back to what it was at an earlier time either.
   *
   * @throws {ApiError} 403 `forbidden` for a key of one project.
   */
  verify(query: VerifyAuditLogs = {}, options?: CallOptions): Promise<AuditLogVerification> {
    return this.#transport.call(verifyAuditLogs, { query }, options);
  }
  /**
   * Downloads all entries of at most 30 days, newest first: a gzip file with one JSON entry a line, or, with `format: "jsonl"`, the lines themselves.
   * Chunks are fetched as the stream is read. Each is kept in memory until its SHA-256 is checked, and fetched again when it did not come whole.
   *
   * @example
   * const log = shoal.auditLogs.download({ start: "2026-01-01T00:00:00Z", end: "2026-01-31T00:00:00Z" });
   * await saveTo(log, "audit.jsonl.gz"); // of @shoal/client/node
   *
   * @param query - `limit` is the number of entries in a chunk; `cursor` goes on where an earlier download ended.
   * @returns a stream that fails with what a call would reject with; it ends early when it is cancelled.
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
