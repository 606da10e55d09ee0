import { type RawBuilder, sql } from "kysely";

const jitter = sql`(0.9 + 0.2 * random())`;

/** One interval after the latest check or login; the jitter of ±10 % spreads connections that were created together. */
export const nextCheckAt = (intervalSeconds: number | undefined) =>
  sql<string>`greatest(signed_in_at, last_auth_check_at, created_at)
    + make_interval(secs => ${intervalSeconds ?? sql.ref("health_check_interval")} * ${jitter})`;

/** As {@link nextCheckAt}, from now. */
export const oneIntervalFromNow = sql<string>`clock_timestamp() + make_interval(secs => health_check_interval * ${jitter})`;

/** Seconds from now, with jitter. */
export const aboutSecondsFromNow = (seconds: number | RawBuilder<unknown>) =>
  sql<string>`clock_timestamp() + make_interval(secs => ${seconds} * ${jitter})`;
