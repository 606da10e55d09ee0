import type { CheckVerdict } from "@shoal/login";

/** How a check ended. */
export interface CheckResult {
  /** `unknown` keeps the status. */
  readonly status: CheckVerdict["status"];
  /** Set without a result, for programs. */
  readonly code?: string;
  /** For people. */
  readonly reason?: string;
  readonly sessionId?: string;
  readonly replayId?: string;
  readonly capturedTelemetry?: boolean;
}

/** A check that this server has begun. */
export interface Claim {
  readonly checkId: string;
  readonly connectionId: string;
  readonly projectId: string;
}
