import { messageOf } from "@shoal/primitives";
import { badInput } from "@shoal/router";
import { Cron } from "croner";

export interface Times {
  readonly cron: string;
  readonly time_zone: string;
}

/** Enough to see irregular intervals: `0,1 9 * * *`. */
const checkedTimes = 60;

/** The first due time after `after`; `undefined` if no time is left. */
export function dueAfter({ cron, time_zone }: Times, after: Date): Date | undefined {
  return new Cron(cron, { timezone: time_zone, mode: "5-or-6-parts", paused: true }).nextRun(after) ?? undefined;
}

/** @returns the first due time. @throws {ServiceError} 400 for invalid times, and for times with less than `minSeconds` between them. */
export function checkTimes(times: Times, now: Date, minSeconds: number): Date {
  let first: Date | undefined;
  let last: Date | undefined;
  for (let count = 0; count < checkedTimes; count++) {
    const next = parsed(times, last ?? now);
    if (next === undefined) break;
    if (last !== undefined && next.getTime() - last.getTime() < minSeconds * 1000)
      throw badInput("body.cron", `has times with ${String((next.getTime() - last.getTime()) / 1000)} s between them`, {
        limit: minSeconds,
        hint: `The limit is ${String(minSeconds)} s between two times (min_schedule_seconds).`,
      });
    first ??= next;
    last = next;
  }
  if (first === undefined) throw badInput("body.cron", "has no due time in the future");
  return first;
}

function parsed(times: Times, after: Date): Date | undefined {
  try {
    return dueAfter(times, after);
  } catch (error) {
    throw badInput("body.cron", `is invalid: ${messageOf(error).slice(0, 200)}`, {
      cause: error,
      hint: "Write minute, hour, day of the month, month and day of the week: 0 9 * * 1-5.",
    });
  }
}
