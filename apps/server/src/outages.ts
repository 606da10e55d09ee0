import { type Outage, outageOf } from "@shoal/database";
import { ServiceError } from "@shoal/router";

const later = "Repeat the request in a moment; a POST with its Idempotency-Key, so that what may have been done is not done twice.";

const explanations: Readonly<
  Record<Outage, { readonly status: number; readonly code: string; readonly message: string; readonly retryAfterSeconds: number }>
> = {
  unreachable: { status: 503, code: "database_unavailable", message: `The service's database cannot be reached now. ${later}`, retryAfterSeconds: 2 },
  busy: { status: 503, code: "database_unavailable", message: `The service's database has more to do than it can. ${later}`, retryAfterSeconds: 2 },
  slow: { status: 503, code: "database_unavailable", message: `The service's database took too long to answer. ${later}`, retryAfterSeconds: 5 },
  full: {
    status: 507,
    code: "insufficient_storage",
    message: "The service's database has no room left on its disk, so nothing can be changed; reading works. Its operator must make room.",
    retryAfterSeconds: 30,
  },
};

/** Node's conditions of a disk that takes no more. */
const fullDisk: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/** Of a database or a disk that cannot do now what it will do later, 503 or 507 with `Retry-After`; any other error as it is. */
export function explainOutage(error: unknown): unknown {
  const outage = outageOf(error);
  if (outage !== undefined) {
    const { code, message, retryAfterSeconds, status } = explanations[outage];
    return new ServiceError(status, code, message, { cause: error, retryAfterSeconds });
  }
  if (error instanceof Error && "code" in error && "syscall" in error && fullDisk.has(error.code)) {
    return new ServiceError(507, "insufficient_storage", "The service has no room left on its disk. Its operator must make room.", {
      cause: error,
      retryAfterSeconds: 30,
    });
  }
  return error;
}
