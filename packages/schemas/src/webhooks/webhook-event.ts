import * as z from "zod/mini";
import { Timestamp } from "../base/common.ts";
import { lazyObject, openEnum, openUnion } from "../base/schema.ts";

const event = <Type extends string, Data extends z.ZodMiniType>(type: Type, data: Data) =>
  z.object({
    /** What happened. */
    type: z.literal(type),
    /** When it happened. */
    timestamp: Timestamp,
    /** The objects that it happened to. */
    data,
  });

/** Data of `auth.needs_human`. */
export interface AuthNeedsHumanData extends z.output<typeof AuthNeedsHumanData> {}
export const AuthNeedsHumanData = lazyObject(() => ({
  connection_id: z.string(),
  /** Site of the connection. */
  domain: z.string(),
  profile_name: z.nullable(z.string()),
  flow_id: z.string(),
  /** `input` for an answer, `external_action` for an action outside of the page. */
  needs: openEnum("input", "external_action"),
  /** The fields that the site requests. */
  fields: z.array(z.object({ type: z.string(), label: z.string() })),
  /** The choices that the site offers. */
  choices: z.array(z.object({ type: z.string(), label: z.string() })),
}));

/** Data of `auth.signed_in`. */
export interface AuthSignedInData extends z.output<typeof AuthSignedInData> {}
export const AuthSignedInData = lazyObject(() => ({
  connection_id: z.string(),
  /** Site of the connection. */
  domain: z.string(),
  profile_name: z.nullable(z.string()),
  flow_id: z.string(),
}));

/** Data of `auth.signed_out`. */
export interface AuthSignedOutData extends z.output<typeof AuthSignedOutData> {}
export const AuthSignedOutData = lazyObject(() => ({
  connection_id: z.string(),
  /** Site of the connection. */
  domain: z.string(),
  profile_name: z.nullable(z.string()),
}));

/** Data of `browser.ended`. */
export interface BrowserEndedData extends z.output<typeof BrowserEndedData> {}
export const BrowserEndedData = lazyObject(() => ({
  session_id: z.string(),
  name: z.nullable(z.string()),
  tags: z.record(z.string(), z.string()),
  region: z.string(),
  created_at: Timestamp,
  ended_at: Timestamp,
  /** As in `browsers.get`. */
  ended_reason: z.string(),
  profile_id: z.nullable(z.string()),
  pool_id: z.nullable(z.string()),
  invocation_id: z.nullable(z.string()),
}));

/** Data of the events `browser_pool.*`. */
export interface BrowserPoolEventData extends z.output<typeof BrowserPoolEventData> {}
export const BrowserPoolEventData = lazyObject(() => ({
  pool_id: z.string(),
  name: z.nullable(z.string()),
  region: z.string(),
  size: z.int(),
  /** Browsers that are ready to be acquired. */
  available: z.int(),
  /** Browsers that callers have acquired. */
  acquired: z.int(),
}));

/** Data of the events `deployment.*`. */
export interface DeploymentEventData extends z.output<typeof DeploymentEventData> {}
export const DeploymentEventData = lazyObject(() => ({
  deployment_id: z.string(),
  status: z.string(),
  status_reason: z.nullable(z.string()),
  version: z.string(),
  /** Names of its apps; empty if the build failed. */
  apps: z.array(z.string()),
  created_at: Timestamp,
}));

/** Data of `download.finished`. */
export interface DownloadFinishedData extends z.output<typeof DownloadFinishedData> {}
export const DownloadFinishedData = lazyObject(() => ({
  session_id: z.string(),
  session_name: z.nullable(z.string()),
  /** As in `browsers.downloads`. */
  download_id: z.string(),
  state: openEnum("completed", "canceled", "interrupted"),
  /** The name that the site suggested. */
  file_name: z.string(),
  /** Path in the session's files, for `browsers.fs`; `null` if it was cancelled. */
  path: z.nullable(z.string()),
  size_bytes: z.int(),
  /** SHA-256 of the file in hexadecimal; `null` without a file. */
  sha256: z.nullable(z.string()),
  /** Host of the address that it came from; empty without one. */
  host: z.string(),
}));

/** Data of `flow_run.diverged`. */
export interface FlowRunDivergedData extends z.output<typeof FlowRunDivergedData> {}
export const FlowRunDivergedData = lazyObject(() => ({
  run_id: z.string(),
  flow_id: z.string(),
  flow_version: z.int(),
  /** Position in the table of the run, from 0. */
  row: z.int(),
  session_id: z.string(),
  /** Position in the steps of the flow, from 0; -1 is opening the start page. */
  step: z.int(),
  /** As in `flows.runs.get`. */
  code: z.string(),
  /** What the flow expected. */
  expected: z.string(),
  /** What the page has instead. */
  seen: z.string(),
  /** Address of the page, without its query. */
  url: z.string(),
  /** What the run does then. */
  on_divergence: openEnum("stop", "continue", "wait"),
}));

/** Data of `flow_run.finished`. */
export interface FlowRunFinishedData extends z.output<typeof FlowRunFinishedData> {}
export const FlowRunFinishedData = lazyObject(() => ({
  run_id: z.string(),
  flow_id: z.string(),
  flow_version: z.int(),
  /** As in `flows.runs.get`. */
  status: z.string(),
  row_count: z.int(),
  created_at: Timestamp,
  finished_at: Timestamp,
}));

/** Data of the events `handoff.*`. `browsers.handoff.get` has the link. */
export interface HandoffEventData extends z.output<typeof HandoffEventData> {}
export const HandoffEventData = lazyObject(() => ({
  handoff_id: z.string(),
  session_id: z.string(),
  session_name: z.nullable(z.string()),
  /** The task for the person. */
  message: z.string(),
  /** Name of the person; `null` without one. */
  label: z.nullable(z.string()),
  created_at: Timestamp,
  expires_at: Timestamp,
  taken_at: z.nullable(Timestamp),
  ended_at: z.nullable(Timestamp),
  /** The person's label, `person` without one, or `program`; `null` unless it was released. */
  released_by: z.nullable(z.string()),
  /** Note about the result; `null` without one. */
  note: z.nullable(z.string()),
}));

/** Data of the events `invocation.*`. */
export interface InvocationEventData extends z.output<typeof InvocationEventData> {}
export const InvocationEventData = lazyObject(() => ({
  invocation_id: z.string(),
  deployment_id: z.string(),
  app_name: z.string(),
  version: z.string(),
  action_name: z.string(),
  status: z.string(),
  /** The first 1024 characters. */
  status_reason: z.nullable(z.string()),
  /** Number of failed runs that were repeated. */
  retries: z.int(),
  started_at: Timestamp,
  finished_at: Timestamp,
}));

/** Data of `webhook.test`. */
export interface WebhookTestData extends z.output<typeof WebhookTestData> {}
export const WebhookTestData = lazyObject(() => ({
  webhook_id: z.string(),
}));

/** The body of a webhook's request. A newer service may send unlisted types, so a `switch` needs a `default`. */
export type WebhookEvent = z.output<typeof WebhookEvent>;
export const WebhookEvent = z.lazy(() =>
  openUnion("type", {
    "auth.needs_human": event("auth.needs_human", AuthNeedsHumanData),
    "auth.signed_in": event("auth.signed_in", AuthSignedInData),
    "auth.signed_out": event("auth.signed_out", AuthSignedOutData),
    "browser.ended": event("browser.ended", BrowserEndedData),
    "browser_pool.empty": event("browser_pool.empty", BrowserPoolEventData),
    "browser_pool.failing": event("browser_pool.failing", BrowserPoolEventData),
    "browser_pool.filled": event("browser_pool.filled", BrowserPoolEventData),
    "deployment.failed": event("deployment.failed", DeploymentEventData),
    "deployment.running": event("deployment.running", DeploymentEventData),
    "deployment.stopped": event("deployment.stopped", DeploymentEventData),
    "download.finished": event("download.finished", DownloadFinishedData),
    "flow_run.diverged": event("flow_run.diverged", FlowRunDivergedData),
    "flow_run.finished": event("flow_run.finished", FlowRunFinishedData),
    "handoff.canceled": event("handoff.canceled", HandoffEventData),
    "handoff.expired": event("handoff.expired", HandoffEventData),
    "handoff.released": event("handoff.released", HandoffEventData),
    "handoff.requested": event("handoff.requested", HandoffEventData),
    "handoff.taken": event("handoff.taken", HandoffEventData),
    "invocation.failed": event("invocation.failed", InvocationEventData),
    "invocation.succeeded": event("invocation.succeeded", InvocationEventData),
    "webhook.test": event("webhook.test", WebhookTestData),
  }),
);
