import { type Outage, outageOf } from "@shoal/database";
import { ServiceError } from "@shoal/router";

const later = "Retry in a moment; repeat a POST with its Idempotency-Key, so that it is not executed twice.";

const explanations: Readonly<
  Record<
    Outage,
    {
      readonly status: number;
      readonly code: string;
      readonly problem: string;
      readonly hint: string;
      readonly retryAfterSeconds: number;
    }
  >
> = {
  unreachable: {
    status: 503,
    code: "database_unavailable",
    problem: "The database of the service is unreachable.",
    hint: later,
    retryAfterSeconds: 2,
  },
  busy: {
    status: 503,
    code: "database_unavailable",
    problem: "The database of the service is overloaded.",
    hint: later,
    retryAfterSeconds: 2,
  },
  slow: {
    status: 503,
    code: "database_unavailable",
    problem: "The database of the service did not answer in time.",
    hint: later,
    retryAfterSeconds: 5,
  },
  full: {
    status: 507,
    code: "insufficient_storage",
    problem: "The disk of the service's database is full: changes fail, reading works.",
    hint: "The operator must free disk space.",
    retryAfterSeconds: 30,
  },
};

const fullDisk: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/** Converts database outages and full disks to 503 or 507 with `Retry-After`; returns other errors unchanged. */
export function explainOutage(error: unknown): unknown {
  const outage = outageOf(error);
  if (outage !== undefined) {
    return ServiceError.of(explanations[outage], { cause: error });
  }
  if (error instanceof Error && "code" in error && "syscall" in error && fullDisk.has(error.code)) {
    return new ServiceError(507, "insufficient_storage", "The disk of the service is full.", {
      hint: "The operator must free disk space.",
      cause: error,
      retryAfterSeconds: 30,
    });
  }
  return error;
}
