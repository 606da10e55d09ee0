import { parseMoment } from "@shoal/primitives";
import { badInput } from "@shoal/router";

/** Converts a timestamp, or a duration before now, to microseconds since 1970. @throws {ServiceError} 400. */
export function momentOf(text: string, field: string, nowMs?: number): number {
  const moment = parseMoment(text, nowMs);
  if (moment === undefined) throw badInput(`query.${field}`, `${text} is not a valid date`);
  return moment;
}

/** Reads the query parameter `since`, where empty counts as absent. @throws {ServiceError} 400. */
export function sinceOf(text: string | undefined): Date | undefined {
  return text === undefined || text === "" ? undefined : new Date(momentOf(text, "since") / 1000);
}
