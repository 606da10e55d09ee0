import type { JsonBodyOptions } from "./endpoint.ts";

/** Limit of bodies with a `chrome_policy`: 5 MiB for the policies plus the usual limit. */
export const policyBody: JsonBodyOptions = { limitBytes: 6 * 2 ** 20 };
