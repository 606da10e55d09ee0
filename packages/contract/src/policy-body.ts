import type { JsonBodyOptions } from "./endpoint.ts";

/** Of bodies with a `chrome_policy`, which may have 5 MiB: as much as any other body beside it. */
export const policyBody: JsonBodyOptions = { limitBytes: 6 * 2 ** 20 };
