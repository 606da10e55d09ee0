import type { Settings } from "../config/settings.ts";

/** Overload on a busy test machine must not reject requests, and only tests of evidence pay for it. */
export const unlimited: Settings = {
  max_event_loop_delay_ms: 0,
  rate_limit_per_key: 0,
  rate_limit_per_organization: 0,
  rate_limit_per_address: 0,
  default_telemetry: ["off"],
  download_retention_hours: 0,
};
