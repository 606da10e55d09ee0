import type { EndedReason } from "@shoal/schemas";

/** RFC 6455, section 7.4.1. */
const goingAway = 1001;
const internalError = 1011;
/** Ends that nobody asked for. */
const failures: ReadonlySet<EndedReason> = new Set(["browser_crashed", "instance_lost"]);

/**
 * The code and the reason with which the WebSockets of a session close: its `ended_reason`.
 *
 * @param reason - `undefined` when the session goes on, or when this server does not know: it runs on another one.
 */
export function closeOf(reason: EndedReason | undefined): [code: number, reason: string] {
  return [reason === undefined || failures.has(reason) ? internalError : goingAway, reason ?? "connection_lost"];
}
