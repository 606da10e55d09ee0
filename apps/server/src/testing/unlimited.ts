import type { Settings } from "../config/settings.ts";

/** A test works in the service's own process, on a machine that may be busy: that is no reason to refuse its requests. */
export const unlimited: Settings = { max_event_loop_delay_ms: 0, rate_limit_per_key: 0, rate_limit_per_organization: 0, rate_limit_per_address: 0 };
