import type { Page } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type {
  AuditLogExportDestination,
  AuditLogExportDestinationTestResult,
  CreateAuditLogExportDestination,
  ListAuditLogExportDestinations,
  UpdateAuditLogExportDestination,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import type { KeyRow } from "../../http/auth/access.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { createId } from "@shoal/primitives";
import { isStorable, toPage } from "../../http/paging.ts";
import { refuseProjectKey } from "../../resources/projects/projects.ts";
import { AwsFailure } from "./aws-failure.ts";
import { placeOf } from "./bucket-place.ts";
import type { Bucket, BucketWriter } from "./bucket-writer.ts";
import type { DestinationChanges, DestinationRow, DestinationStore } from "./destination-store.ts";

/** Absent without an AWS identity. */
export interface ExportMeans {
  readonly writer: BucketWriter;
  /** Shown to users: the principal for trust policies. */
  readonly roleArn: string;
  /** Aborts a write to an earlier revision. @param revision - the current one; `undefined` = deleted. */
  readonly stop: (id: string, revision: number | undefined) => void;
}

const maxDestinations = 10;
const testName = "shoal-export-test.txt";

const notConfigured =
  "This service has no AWS identity for exporting the audit log. The operator can set audit_export_identity and audit_export_role_arn; download the log with auditLogs.download meanwhile.";

function notFound(id: string): ServiceError {
  return new ServiceError(404, "not_found", `Export destination ${id} was not found.`, {
    hint: "List the destinations with auditLogs.exportDestinations.list.",
  });
}

function placeTaken({ bucket, prefix }: Pick<DestinationRow, "bucket" | "prefix">): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `Another export destination already writes to bucket ${bucket} with the prefix ${JSON.stringify(prefix)}.`,
    { hint: "Choose another prefix, or use that destination." },
  );
}

function changesOf(request: z.output<typeof UpdateAuditLogExportDestination>): DestinationChanges {
  const { kms_key_id, ...others } = request;
  const given: DestinationChanges = Object.fromEntries(
    Object.entries(others).filter(([, value]) => value !== undefined),
  );
  return { ...given, ...(kms_key_id !== undefined && { kms_key_id: kms_key_id === "" ? null : kms_key_id }) };
}

/** For organisation-wide keys only. */
export class ExportDestinations {
  readonly #store: DestinationStore;
  readonly #means: ExportMeans | undefined;

  constructor(store: DestinationStore, means: ExportMeans | undefined) {
    this.#store = store;
    this.#means = means;
  }

  async create(
    caller: KeyRow,
    { bucket, kms_key_id, prefix, region, role_arn }: z.output<typeof CreateAuditLogExportDestination>,
  ): Promise<AuditLogExportDestination> {
    this.#refuse(caller);
    this.#requireMeans();
    let row: DestinationRow | undefined;
    try {
      row = await this.#store.insert(
        {
          id: createId(),
          bucket,
          prefix,
          region,
          role_arn,
          kms_key_id: kms_key_id ?? null,
          external_id: `shoal-${createId()}`,
        },
        maxDestinations,
      );
    } catch (error) {
      throw isUniqueViolation(error) ? placeTaken({ bucket, prefix }) : error;
    }
    if (row === undefined)
      throw new ServiceError(
        409,
        "conflict",
        `The limit of ${String(maxDestinations)} export destinations is reached.`,
        { limit: maxDestinations, hint: "Delete one first." },
      );
    return this.#toDestination(row);
  }

  async list(
    caller: KeyRow,
    window: z.output<typeof ListAuditLogExportDestinations>,
  ): Promise<Page<AuditLogExportDestination>> {
    this.#refuse(caller);
    return toPage(await this.#store.list(window), window, (row) => this.#toDestination(row));
  }

  async get(caller: KeyRow, id: string): Promise<AuditLogExportDestination> {
    this.#refuse(caller);
    return this.#toDestination(await this.#existing(id));
  }

  async update(
    caller: KeyRow,
    id: string,
    request: z.output<typeof UpdateAuditLogExportDestination>,
  ): Promise<AuditLogExportDestination> {
    this.#refuse(caller);
    const row = await this.#existing(id);
    const changes = changesOf(request);
    if (Object.keys(changes).length === 0) return this.#toDestination(row);
    if (changes.status === "active") this.#requireMeans();
    let changed: DestinationRow | undefined;
    try {
      changed = await this.#store.update(row, changes);
    } catch (error) {
      throw isUniqueViolation(error) ? placeTaken({ ...row, ...changes }) : error;
    }
    if (changed === undefined) {
      await this.#existing(id);
      throw new ServiceError(
        409,
        "conflict",
        `Export destination ${id} was changed by another request at the same time; nothing was changed by this one.`,
        { hint: "Read it with auditLogs.exportDestinations.get, then retry." },
      );
    }
    this.#means?.stop(id, changed.revision);
    return this.#toDestination(changed);
  }

  async delete(caller: KeyRow, id: string): Promise<void> {
    this.#refuse(caller);
    if (!isStorable(id) || !(await this.#store.delete(id))) throw notFound(id);
    this.#means?.stop(id, undefined);
  }

  async test(caller: KeyRow, id: string): Promise<AuditLogExportDestinationTestResult> {
    this.#refuse(caller);
    const place = placeOf(await this.#existing(id));
    const failed = (stage: "assume_role" | "put_object", message: string): AuditLogExportDestinationTestResult => ({
      success: false,
      stage,
      error: { code: `${stage}_failed`, message },
    });
    if (this.#means === undefined) return failed("assume_role", notConfigured);
    const { signal } = new AbortController();
    let bucket: Bucket;
    try {
      bucket = await this.#means.writer.open(place, { signal, fresh: true });
    } catch (error) {
      if (error instanceof AwsFailure) return failed("assume_role", error.message);
      throw error;
    }
    try {
      await bucket.put(
        {
          name: testName,
          bytes: Buffer.from(
            `Shoal can write audit logs here. Written at ${new Date().toISOString()} by a test of destination ${id}.\n`,
          ),
          type: "text/plain; charset=utf-8",
        },
        signal,
      );
    } catch (error) {
      if (error instanceof AwsFailure) return failed("put_object", error.message);
      throw error;
    }
    return { success: true, stage: "complete" };
  }

  #toDestination(row: DestinationRow): AuditLogExportDestination {
    return {
      id: row.id,
      type: "s3",
      format: "jsonl.gz",
      bucket: row.bucket,
      prefix: row.prefix,
      region: row.region,
      role_arn: row.role_arn,
      external_id: row.external_id,
      kernel_role_arn: this.#means?.roleArn ?? "",
      ...(row.kms_key_id !== null && { kms_key_id: row.kms_key_id }),
      status: row.status,
      consecutive_failures: row.consecutive_failures,
      created_at: row.created_at,
      updated_at: row.updated_at,
      ...(row.last_error !== null && { last_error: row.last_error }),
      ...(row.last_error_at !== null && { last_error_at: row.last_error_at }),
      ...(row.exported_sequence > 0 && { last_exported_cursor: String(row.exported_sequence) }),
      ...(row.last_success_at !== null && { last_success_at: row.last_success_at }),
      ...(row.next_attempt_at !== null && { next_attempt_at: row.next_attempt_at }),
    };
  }

  async #existing(id: string): Promise<DestinationRow> {
    const row = isStorable(id) ? await this.#store.find(id) : undefined;
    if (row === undefined) throw notFound(id);
    return row;
  }

  #requireMeans(): ExportMeans {
    if (this.#means === undefined) throw new ServiceError(400, "audit_export_not_available", notConfigured);
    return this.#means;
  }

  #refuse(caller: KeyRow) {
    refuseProjectKey(caller, "manage exports of the organisation's audit log");
  }
}
