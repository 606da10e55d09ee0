import type { EndedReason } from "@shoal/schemas";

/** RFC 6455, section 7.4.1. */
const goingAway = 1001;
const internalError = 1011;
/** The user did not request these. */
const failures: ReadonlySet<EndedReason> = new Set(["browser_crashed", "instance_lost"]);

/** @param reason - `undefined` if the session continues or runs on another server. */
export function closeOf(reason: EndedReason | undefined): [code: number, reason: string] {
  return [reason === undefined || failures.has(reason) ? internalError : goingAway, reason ?? "connection_lost"];
}
