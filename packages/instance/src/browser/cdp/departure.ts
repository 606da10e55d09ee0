export type CdpDepartureReason = "client_close" | "upstream_changed" | "upstream_error" | "context_cancelled";

export interface CdpDeparture {
  readonly durationMs: number;
  readonly messageCount: number;
  /** Messages that were too large to be inspected. */
  readonly unreadCount: number;
  readonly reason: CdpDepartureReason;
}
