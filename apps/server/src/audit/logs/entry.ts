import { createHash } from "node:crypto";

/** A request without a position in the log yet. */
export interface AuditNote {
  readonly id: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly project_id: string | null;
  readonly auth_strategy: string;
  readonly user_id: string;
  readonly email: string;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly operation: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly domain: string;
  readonly client_ip: string;
  readonly user_agent: string;
  readonly request_id: string;
}

export interface AuditRow extends AuditNote {
  readonly sequence: number;
  /** SHA-256. */
  readonly previous_hash: Buffer;
  readonly hash: Buffer;
}

/**
 * SHA-256 of the 32 bytes of the previous hash and the fields as a JSON array, in this order. Users verify exports with
 * it, so it never changes.
 */
export function hashOf(previous: Uint8Array, entry: AuditNote & { readonly sequence: number }): Buffer {
  const fields = [
    entry.sequence,
    entry.id,
    entry.at,
    entry.project_id,
    entry.auth_strategy,
    entry.user_id,
    entry.email,
    entry.method,
    entry.path,
    entry.route,
    entry.operation,
    entry.status,
    entry.duration_ms,
    entry.domain,
    entry.client_ip,
    entry.user_agent,
    entry.request_id,
  ];
  return createHash("sha256").update(previous).update(JSON.stringify(fields)).digest();
}

export function chained(
  notes: readonly AuditNote[],
  after: { readonly sequence: number; readonly hash: Buffer },
): AuditRow[] {
  let { hash, sequence } = after;
  return notes.map((note) => {
    const previous_hash = hash;
    sequence += 1;
    hash = hashOf(previous_hash, { ...note, sequence });
    return { ...note, sequence, previous_hash, hash };
  });
}
