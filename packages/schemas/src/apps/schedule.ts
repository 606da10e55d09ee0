import * as z from "zod/mini";
import { Id, pageFields, Timestamp } from "../base/common.ts";
import { checkedLater, exactlyOne, needs, rule } from "../base/rules.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";
import { ScheduledFlowRun } from "../flows/flow-run.ts";
import { jsonFits, jsonText } from "./invocation.ts";

/** Bytes of the settings of the runs of a schedule, as JSON in UTF-8. */
const maxFlowRunBytes = 65_536;

const name = () => checked(z.string(), z.minLength(1), z.maxLength(255));

/** Times at which the service invokes an action of an app, or runs a flow. */
export interface Schedule extends z.output<typeof Schedule> {}
export const Schedule = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The app; absent for a flow. */
  app_name: z.optional(z.string()),
  /** Label of the app's version; the deployment that has the label at the due time runs. Absent for a flow. */
  version: z.optional(z.string()),
  /** Name of the action; absent for a flow. */
  action_name: z.optional(z.string()),
  /** Id of the flow; absent for an app. */
  flow_id: z.optional(z.string()),
  /** Settings of the runs of the flow, as requested. */
  flow_run: z.optional(z.record(z.string(), z.unknown())),
  /** The times, as a cron expression. */
  cron: z.string(),
  /** Time zone of `cron`. */
  time_zone: z.string(),
  /** Payload of each invocation, JSON as text. */
  payload: z.optional(z.string()),
  /** `code` = an action of the app declares it, so the next deployment of the version replaces it; `request` = `schedules.create`. */
  origin: openEnum("code", "request"),
  /** A `paused` schedule does not run. */
  status: openEnum("active", "paused"),
  /** The next due time; `null` while it is paused. */
  next_run_at: z.nullable(Timestamp),
  /** The last due time that was handled; absent before the first one. */
  last_run_at: z.optional(Timestamp),
  /** The last invocation that it started. */
  last_invocation_id: z.optional(z.string()),
  /** The last run of the flow that it started, or is starting. */
  last_flow_run_id: z.optional(z.string()),
  /** Why the last due time started nothing, or may have; absent if it started. */
  last_problem: z.optional(z.string()),
  /** Creation time. */
  created_at: Timestamp,
}));

/** Input of `schedules.create`: for an action of an app, or for a flow. */
export interface CreateSchedule extends z.input<typeof CreateSchedule> {}
export const CreateSchedule = z.lazy(() =>
  checked(
    z.object({
      /** The app to invoke, 1 to 255 characters; give either this or `flow`. */
      app_name: z.optional(name()),
      /** Label of the app's version, 1 to 255 characters. */
      version: z._default(name(), "latest"),
      /** Name of the action, 1 to 255 characters; for an app. */
      action_name: z.optional(name()),
      /** Id of the flow to run; give either this or `app_name`. Needs the right to run it, now and at each due time. */
      flow: z.optional(Id),
      /** Settings of each run of the flow, as in `flows.runs.create`, without `session`: up to 64 KiB of JSON in UTF-8. */
      flow_run: z.optional(ScheduledFlowRun),
      /** Minute, hour, day of the month, month and day of the week, with an optional first field for seconds: `0 9 * * 1-5`. */
      cron: checked(
        z.string(),
        z.maxLength(100),
        z.regex(/^\S+(?: +\S+){4,5}$/, "expected 5 or 6 fields: 0 9 * * 1-5"),
        checkedLater({ keywords: { pattern: "^[0-9A-Za-z*?,/#-]+(?: +[0-9A-Za-z*?,/#-]+){4,5}$" } }),
      ),
      /** Time zone of `cron`, by its IANA name: `Europe/Berlin`. */
      time_zone: z._default(checked(z.string(), z.refine(isTimeZone, "expected a time zone: Europe/Berlin")), "UTC"),
      /** Payload of each invocation of the action: JSON as text, up to 64 KiB in UTF-8. Empty = none. */
      payload: z.optional(jsonText(65_536, "64 KiB")),
    }),
    exactlyOne("app_name", "flow"),
    needs("app_name", "action_name"),
    needs("action_name", "app_name"),
    needs("flow_run", "flow"),
    rule<{ readonly flow_run?: unknown }>(
      ({ flow_run: run }) => run === undefined || jsonFits(run, maxFlowRunBytes),
      { path: ["flow_run"], error: "expected at most 64 KiB of JSON" },
      {},
    ),
    rule<{ readonly flow?: unknown; readonly payload?: unknown }>(
      ({ flow, payload }) => flow === undefined || payload === undefined,
      { path: ["payload"], error: "is for an action; use flow_run for a flow" },
      { keywords: { if: { required: ["flow"] }, then: { not: { required: ["payload"] } } } },
    ),
  ),
);

/** Input of `schedules.list`. */
export interface ListSchedules extends z.input<typeof ListSchedules> {}
export const ListSchedules = lazyObject(() => ({
  ...pageFields,
  /** Only schedules of this app. */
  app_name: z.optional(z.string()),
  /** Only schedules of this version. */
  version: z.optional(z.string()),
  /** Only schedules of this flow. */
  flow: z.optional(z.string()),
}));

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
