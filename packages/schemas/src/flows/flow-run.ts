import * as z from "zod/mini";
import { Id, pageFields, Timestamp } from "../base/common.ts";
import { atMostOne, maxEntries, rule } from "../base/rules.ts";
import { checked, lazyObject, noNul, openEnum } from "../base/schema.ts";
import { StoredSecret } from "../base/stored-secret.ts";
import { RenderProfile } from "../instance/render.ts";
import { BrowserConditionsConfig } from "../sessions/browser-conditions.ts";
import { BrowserLocationConfig } from "../sessions/browser-location.ts";
import { BrowserProxyConfig } from "../sessions/browser-network.ts";
import { BrowserViewport } from "../sessions/browser.ts";
import { BrowserReplayConfig } from "../telemetry/network-recording.ts";

const Version = () => checked(z.int(), z.minimum(1), z.maximum(2_147_483_647));

/** Values of parameters by name: texts, and references to stored credentials for secret parameters. */
export type FlowValues = Record<string, string | z.input<typeof StoredSecret>>;
const FlowValues = () =>
  checked(
    z.record(
      checked(z.string(), z.regex(/^[a-z][a-z0-9_]{0,63}$/)),
      z.union([checked(z.string(), z.maxLength(10_000), noNul()), StoredSecret]),
    ),
    maxEntries(50, "parameters"),
  );

/** The browsers of a run. */
export interface FlowBrowser extends z.input<typeof FlowBrowser> {}
export const FlowBrowser = lazyObject(() => ({
  /** Cookies and storage of this profile. It stays as it was. */
  profile: z.optional(RenderProfile),
  /** What their traffic leaves by: a proxy by id or by name, or none. */
  proxy: z.optional(BrowserProxyConfig),
  /** Size of the visible page; that of new sessions when absent. */
  viewport: z.optional(BrowserViewport),
  /** Hide signs of automation. */
  stealth: z.optional(z.boolean()),
  /** Where pages see them: time zone and language. A field that is absent comes from the profile. */
  location: z.optional(BrowserLocationConfig),
  /** Permissions, position, color scheme and motion of pages. A field that is absent comes from the profile. */
  conditions: z.optional(BrowserConditionsConfig),
  /** A network recording that answers the requests of each of them, instead of the network. Needs the right to stored values. */
  replay: z.optional(BrowserReplayConfig),
}));

const runFields = () => ({
  /** An earlier version of the flow; the latest when absent. */
  version: z.optional(Version()),
  /** Values of the parameters, for one row. */
  parameters: z.optional(FlowValues()),
  /** Values of the parameters for each row, 1 to 100 rows. Each runs in its own browser, or with `session` one after another in that session. */
  table: z.optional(checked(z.array(FlowValues()), z.minLength(1), z.maxLength(100))),
  /** Rows that run at the same time, 1 to 10. */
  concurrency: z._default(checked(z.int(), z.minimum(1), z.maximum(10)), 1),
  /** The new browsers of the rows. */
  browser: z.optional(FlowBrowser),
  /** Other names of elements and texts, by the recorded ones, up to 200: for a page in another language. */
  names: z.optional(
    checked(
      z.record(
        checked(z.string(), z.minLength(1), z.maxLength(1000)),
        checked(z.string(), z.minLength(1), z.maxLength(1000), noNul()),
      ),
      maxEntries(200, "names"),
    ),
  ),
  /** Longest wait for a person, in seconds, 10 to 14,400. */
  person_timeout_seconds: z._default(checked(z.int(), z.minimum(10), z.maximum(14_400)), 900),
});

/** Input of `flows.runs.create`. */
export interface StartFlowRun extends z.input<typeof StartFlowRun> {}
export const StartFlowRun = z.lazy(() =>
  checked(
    z.object({
      ...runFields(),
      /** A running session of the caller, by id or name: the rows run in it one after another. The run opens its first page in the tab in front, and leaves the session open. Give either this or `browser`. Needs the right to act in the session. */
      session: z.optional(Id),
    }),
    atMostOne("parameters", "table"),
    atMostOne("session", "browser"),
    rule<{ readonly concurrency?: number; readonly session?: unknown }>(
      ({ concurrency = 1, session }) => session === undefined || concurrency === 1,
      { path: ["concurrency"], error: "must be 1 with session" },
      { keywords: { if: { required: ["session"] }, then: { properties: { concurrency: { const: 1 } } } } },
    ),
  ),
);

/** Settings of runs that a schedule starts, always in new browsers. */
export interface ScheduledFlowRun extends z.input<typeof ScheduledFlowRun> {}
export const ScheduledFlowRun = z.lazy(() => checked(z.object(runFields()), atMostOne("parameters", "table")));

/** A step that differed from the flow. */
export interface FlowDivergence extends z.output<typeof FlowDivergence> {}
export const FlowDivergence = lazyObject(() => ({
  /** Why: `not_found`, `ambiguous`, `unsure`, `unexpected`, or the code of the error of `browsers.act`, such as `handoff_active` if a person has taken over the session. */
  code: z.string(),
  /** What the flow expected: `button "Save"`. */
  expected: z.string(),
  /** What the page has instead. */
  seen: z.string(),
  /** Elements that could be meant, at most 5. */
  candidates: z.array(z.string()),
  /** Address of the page. */
  url: z.string(),
  /** Title of the page. */
  title: z.string(),
  /** Whether `flows.runs.picture` has a picture of the page. Absent = no. */
  has_picture: z.optional(z.boolean()),
}));

/** A step of a row. */
export interface FlowStepResult extends z.output<typeof FlowStepResult> {}
export const FlowStepResult = lazyObject(() => ({
  /** Position in the steps of the flow, from 0; -1 is opening the start page. */
  step: z.int(),
  /** `started`: it may have acted. `by_person`: a person did it. */
  status: openEnum("started", "done", "diverged", "by_person"),
  /** How the element was found: `name`, or the fallbacks; `null` for steps without one. */
  found_by: z.nullable(z.string()),
  /** Milliseconds that it took. */
  duration_ms: z.int(),
  /** How the page differed; also of a step that a person did. */
  divergence: z.optional(FlowDivergence),
}));

const rowStatuses = ["queued", "running", "waiting", "succeeded", "diverged", "failed", "canceled", "unknown"] as const;

/** One pass through a flow. */
export interface FlowRunRow extends z.output<typeof FlowRunRow> {}
export const FlowRunRow = lazyObject(() => ({
  /** Position in the table, from 0. */
  index: z.int(),
  /** `waiting`: for a person. `diverged`: at least one step differed, and no person did it. `unknown`: the server was lost; the last step may have acted. */
  status: openEnum(...rowStatuses),
  /** Id of its session; `null` before. */
  session_id: z.nullable(z.string()),
  /** The steps until now. */
  steps: z.array(FlowStepResult),
  /** Why it failed; `null` otherwise. */
  error: z.nullable(z.string()),
}));

const summaryFields = () => ({
  /** Stable identifier. */
  id: z.string(),
  /** The flow. */
  flow_id: z.string(),
  /** Version of the flow. */
  flow_version: z.int(),
  /** `diverged`, `failed` and `unknown` if a row is; `succeeded` if every row is. */
  status: openEnum("running", "succeeded", "diverged", "failed", "canceled", "unknown"),
  /** Number of rows. */
  row_count: z.int(),
  /** When it was created. */
  created_at: Timestamp,
  /** When its last row ended; `null` before. */
  finished_at: z.nullable(Timestamp),
});

/** A run of a list, without its rows. */
export interface FlowRunSummary extends z.output<typeof FlowRunSummary> {}
export const FlowRunSummary = lazyObject(summaryFields);

/** A replay of a flow. */
export interface FlowRun extends z.output<typeof FlowRun> {}
export const FlowRun = lazyObject(() => ({
  ...summaryFields(),
  /** In the order of the table. */
  rows: z.array(FlowRunRow),
}));

/** Query of `flows.runs.get`. */
export interface GetFlowRun extends z.input<typeof GetFlowRun> {}
export const GetFlowRun = lazyObject(() => ({
  /** Seconds to wait for the end of the run, 0 to 50. */
  wait_seconds: z.lazy(() => z._default(checked(z.int(), z.minimum(0), z.maximum(50)), 0)),
}));

/** Query of `flows.runs.picture`. */
export interface GetFlowRunPicture extends z.input<typeof GetFlowRunPicture> {}
export const GetFlowRunPicture = lazyObject(() => ({
  /** Position of the row in the table, from 0. */
  row: z.lazy(() => z._default(checked(z.int(), z.minimum(0), z.maximum(99)), 0)),
  /** Position of the step in the flow, from 0; -1 is opening the start page. Absent = the first step of the row with a picture. */
  step: z.lazy(() => z.optional(checked(z.int(), z.minimum(-1), z.maximum(199)))),
}));

/** Query of `flows.runs.list`. */
export interface ListFlowRuns extends z.input<typeof ListFlowRuns> {}
export const ListFlowRuns = lazyObject(() => ({
  ...pageFields,
}));
