import { parseMoment } from "@shoal/primitives";
import { badInput } from "@shoal/router";

/** Milliseconds since 1970 of the query parameter `since`; empty counts as absent. @throws {ServiceError} 400. */
export function sinceMs(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const moment = parseMoment(text);
  if (moment === undefined) throw badInput("query.since", `${text} is not a valid date`);
  return moment / 1000;
}

/** Accepts all events except log lines before `since`. @throws {ServiceError} 400. */
export function linesSince(
  since: string | undefined,
): (event: { readonly event: string; readonly timestamp?: string }) => boolean {
  const from = sinceMs(since);
  return ({ event, timestamp }) =>
    event !== "log" || from === undefined || timestamp === undefined || Date.parse(timestamp) >= from;
}
