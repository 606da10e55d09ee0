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
import type { KeyRow } from "../auth/access.ts";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import { isStorable, toPage } from "../paging.ts";
import { refuseProjectKey } from "../projects/projects.ts";
import { AwsFailure } from "./aws-failure.ts";
import type { AwsKeys } from "./aws-requests.ts";
import { placeOf } from "./bucket-place.ts";
import type { BucketWriter } from "./bucket-writer.ts";
import type { DestinationChanges, DestinationRow, DestinationStore } from "./destination-store.ts";

/** Where the audit log is exported to, for keys of the whole organisation. */
export interface ExportDestinations {
  create(caller: KeyRow, request: z.output<typeof CreateAuditLogExportDestination>): Promise<AuditLogExportDestination>;
  list(caller: KeyRow, window: z.output<typeof ListAuditLogExportDestinations>): Promise<Page<AuditLogExportDestination>>;
  get(caller: KeyRow, id: string): Promise<AuditLogExportDestination>;
  update(caller: KeyRow, id: string, request: z.output<typeof UpdateAuditLogExportDestination>): Promise<AuditLogExportDestination>;
  delete(caller: KeyRow, id: string): Promise<void>;
  test(caller: KeyRow, id: string): Promise<AuditLogExportDestinationTestResult>;
}

/** What exports are done with; absent where the operator set nothing up. */
export interface ExportMeans {
  readonly writer: BucketWriter;
  /** For people: what trust policies name. */
  readonly roleArn: string;
  /** Breaks off what this server writes to a destination. @param revision - as it is by now; `undefined` = it is gone. */
  readonly stop: (id: string, revision: number | undefined) => void;
}

/** Destinations of the organisation. */
const maxDestinations = 10;
/** Of the object that a test writes, after the prefix. */
const testName = "shoal-export-test.txt";

const notConfigured =
  "This service has no identity of its own at AWS, so it cannot export the audit log. Its operator sets audit_export_identity and audit_export_role_arn; until then, fetch the log with auditLogs.download.";

function notFound(id: string): ServiceError {
  return new ServiceError(404, "not_found", `Export destination ${id} was not found. List the destinations with auditLogs.exportDestinations.list.`);
}

function placeTaken({ bucket, prefix }: Pick<DestinationRow, "bucket" | "prefix">): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `Another export destination writes to bucket ${bucket} with the prefix ${JSON.stringify(prefix)} already. Choose another prefix, or use that destination.`,
  );
}

function changesOf(request: z.output<typeof UpdateAuditLogExportDestination>): DestinationChanges {
  const { kms_key_id, ...others } = request;
  const given: DestinationChanges = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  return { ...given, ...(kms_key_id !== undefined && { kms_key_id: kms_key_id === "" ? null : kms_key_id }) };
}

export function createExportDestinations(store: DestinationStore, means: ExportMeans | undefined): ExportDestinations {
  function toDestination(row: DestinationRow): AuditLogExportDestination {
    return {
      id: row.id,
      type: "s3",
      format: "jsonl.gz",
      bucket: row.bucket,
      prefix: row.prefix,
      region: row.region,
      role_arn: row.role_arn,
      external_id: row.external_id,
      kernel_role_arn: means?.roleArn ?? "",
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

  async function existing(id: string): Promise<DestinationRow> {
    const row = isStorable(id) ? await store.find(id) : undefined;
    if (row === undefined) throw notFound(id);
    return row;
  }

  function requireMeans(): ExportMeans {
    if (means === undefined) throw new ServiceError(400, "audit_export_not_available", notConfigured);
    return means;
  }

  const refuse = (caller: KeyRow) => {
    refuseProjectKey(caller, "manage exports of the organisation's audit log");
  };

  return {
    async create(caller, { bucket, kms_key_id, prefix, region, role_arn }) {
      refuse(caller);
      requireMeans();
      let row: DestinationRow | undefined;
      try {
        row = await store.insert(
          { id: createId(), bucket, prefix, region, role_arn, kms_key_id: kms_key_id ?? null, external_id: `shoal-${createId()}` },
          maxDestinations,
        );
      } catch (error) {
        throw isUniqueViolation(error) ? placeTaken({ bucket, prefix }) : error;
      }
      if (row === undefined)
        throw new ServiceError(
          409,
          "conflict",
          `There are ${String(maxDestinations)} export destinations, and that is as many as there may be. Delete one first.`,
        );
      return toDestination(row);
    },

    async list(caller, window) {
      refuse(caller);
      return toPage(await store.list(window), window, toDestination);
    },

    async get(caller, id) {
      refuse(caller);
      return toDestination(await existing(id));
    },

    async update(caller, id, request) {
      refuse(caller);
      const row = await existing(id);
      const changes = changesOf(request);
      if (Object.keys(changes).length === 0) return toDestination(row);
      if (changes.status === "active") requireMeans();
      let changed: DestinationRow | undefined;
      try {
        changed = await store.update(row, changes);
      } catch (error) {
        throw isUniqueViolation(error) ? placeTaken({ ...row, ...changes }) : error;
      }
      if (changed === undefined) {
        await existing(id);
        throw new ServiceError(
          409,
          "conflict",
          `Export destination ${id} was changed by somebody else at the same time, and nothing of this request was done. Look at it with auditLogs.exportDestinations.get, and repeat the request if it still holds.`,
        );
      }
      means?.stop(id, changed.revision);
      return toDestination(changed);
    },

    async delete(caller, id) {
      refuse(caller);
      if (!isStorable(id) || !(await store.delete(id))) throw notFound(id);
      means?.stop(id, undefined);
    },

    async test(caller, id) {
      refuse(caller);
      const place = placeOf(await existing(id));
      const failed = (stage: "assume_role" | "put_object", message: string): AuditLogExportDestinationTestResult => ({
        success: false,
        stage,
        error: { code: `${stage}_failed`, message },
      });
      if (means === undefined) return failed("assume_role", notConfigured);
      const { signal } = new AbortController();
      let keys: AwsKeys;
      try {
        keys = await means.writer.assume(place, { signal, fresh: true });
      } catch (error) {
        if (error instanceof AwsFailure) return failed("assume_role", error.message);
        throw error;
      }
      try {
        await means.writer.put(place, keys, {
          name: testName,
          bytes: Buffer.from(`Shoal can write audit logs here. Written at ${new Date().toISOString()} by a test of destination ${id}.\n`),
          type: "text/plain; charset=utf-8",
          signal,
        });
      } catch (error) {
        if (error instanceof AwsFailure) return failed("put_object", error.message);
        throw error;
      }
      return { success: true, stage: "complete" };
    },
  };
}
