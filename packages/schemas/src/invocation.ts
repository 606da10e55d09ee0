import * as z from "zod/mini";
import { Browser } from "./browser.ts";
import { pageFields, Timestamp } from "./common.ts";
import { ErrorEventShape, HeartbeatEventShape, LogEventShape, Since, type ErrorEvent, type HeartbeatEvent, type LogEvent } from "./events.ts";
import { checked, lazyObject, openEnum, openUnion, type Schema } from "./schema.ts";

const name = () => checked(z.string(), z.minLength(1), z.maxLength(255));

/** States of an invocation. */
export const invocationStatuses = ["queued", "running", "succeeded", "failed"] as const;

export const InvocationShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The app that was asked. */
  app_name: z.string(),
  /** Label of the app's version. */
  version: z.string(),
  /** What it was asked to do. */
  action_name: z.string(),
  /** What it was given, JSON as text. */
  payload: z.optional(z.string()),
  /** What it answered, JSON as text. */
  output: z.optional(z.string()),
  /** When it was asked. */
  started_at: Timestamp,
  /** When it ended; `null` or absent while it goes on. */
  finished_at: z.optional(z.nullable(Timestamp)),
  /** `queued` and `running` go on; `succeeded` and `failed` are final. */
  status: openEnum(...invocationStatuses),
  /** Why it is in that state, where there is more to say. */
  status_reason: z.optional(z.string()),
}));
/** One run of an app's action. */
export interface Invocation extends z.output<typeof InvocationShape> {}
export const Invocation: Schema<Invocation> = InvocationShape;

export const CreateInvocationShape = lazyObject(() => ({
  /** The app to ask, 1 to 255 characters. */
  app_name: name(),
  /** Label of the app's version, 1 to 255 characters. */
  version: z._default(name(), "latest"),
  /** What to ask it to do, 1 to 255 characters. */
  action_name: name(),
  /** What to give it: JSON as text. */
  payload: z.optional(checked(z.string(), z.refine(isJson, "expected JSON as text"))),
  /** Answer at once, with status `queued`, instead of when it has ended. */
  async: z._default(z.boolean(), false),
  /** With `async`: seconds after which it fails, 10 to 3600. */
  async_timeout_seconds: z._default(checked(z.int(), z.minimum(10), z.maximum(3600)), 900),
}));
/** What `invocations.create` takes. */
export interface CreateInvocation extends z.input<typeof CreateInvocationShape> {}
export const CreateInvocation: Schema<z.output<typeof CreateInvocationShape>, CreateInvocation> = CreateInvocationShape;

export const CreatedInvocationShape = lazyObject(() => ({
  /** Identifier of the invocation. */
  id: z.string(),
  /** What was asked. */
  action_name: z.string(),
  /** `queued` for a call with `async`; otherwise how it ended. */
  status: openEnum(...invocationStatuses),
  /** Why it is in that state, where there is more to say. */
  status_reason: z.optional(z.string()),
  /** What it answered, JSON as text. */
  output: z.optional(z.string()),
}));
/** An invocation that was begun, and its output if it has ended already. */
export interface CreatedInvocation extends z.output<typeof CreatedInvocationShape> {}
export const CreatedInvocation: Schema<CreatedInvocation> = CreatedInvocationShape;

export const UpdateInvocationShape = lazyObject(() => ({
  /** How it has ended; `failed` also cancels one that runs. */
  status: z.enum(["succeeded", "failed"]),
  /** What it answered: JSON as text. */
  output: z.optional(checked(z.string(), z.refine(isJson, "expected JSON as text"))),
}));
/** What `invocations.update` takes. */
export interface UpdateInvocation extends z.input<typeof UpdateInvocationShape> {}
export const UpdateInvocation: Schema<z.output<typeof UpdateInvocationShape>, UpdateInvocation> = UpdateInvocationShape;

export const ListInvocationsShape = lazyObject(() => ({
  ...pageFields,
  /** Those of this app only. */
  app_name: z.optional(z.string()),
  /** Those of versions with this label only. */
  version: z.optional(z.string()),
  /** Those of this action only. */
  action_name: z.optional(z.string()),
  /** Those of this deployment only. */
  deployment_id: z.optional(z.string()),
  /** Those in this state only. */
  status: z.optional(z.enum(invocationStatuses)),
  /** Those that started after a moment (ISO 8601), or no longer ago than this (`5m`, `1h30m`). */
  since: z.optional(Since),
  /** Part of the name of an app or action, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));
/** What `invocations.list` takes. */
export interface ListInvocations extends z.input<typeof ListInvocationsShape> {}
export const ListInvocations: Schema<z.output<typeof ListInvocationsShape>, ListInvocations> = ListInvocationsShape;

export const FollowInvocationShape = lazyObject(() => ({
  /** Where the log begins: a moment (ISO 8601), or how long ago (`5m`, `1h30m`). */
  since: z.optional(Since),
}));
/** What `invocations.follow` takes beside the id. */
export interface FollowInvocation extends z.input<typeof FollowInvocationShape> {}
export const FollowInvocation: Schema<z.output<typeof FollowInvocationShape>, FollowInvocation> = FollowInvocationShape;

export const InvocationBrowsersShape = lazyObject(() => ({
  /** Sessions that it has started and that run. */
  browsers: z.array(Browser),
}));
/** The browser sessions of an invocation. */
export interface InvocationBrowsers extends z.output<typeof InvocationBrowsersShape> {}
export const InvocationBrowsers: Schema<InvocationBrowsers> = InvocationBrowsersShape;

export const InvocationStateEventShape = lazyObject(() => ({
  /** Always `invocation_state`. */
  event: z.literal("invocation_state"),
  /** The invocation as it is now. */
  invocation: Invocation,
  /** When it got so. */
  timestamp: Timestamp,
}));
/** An invocation's state, when it changes and when a reader comes. */
export interface InvocationStateEvent extends z.output<typeof InvocationStateEventShape> {}
export const InvocationStateEvent: Schema<InvocationStateEvent> = InvocationStateEventShape;

export const InvocationEventShape = z.lazy(() =>
  openUnion("event", {
    log: LogEventShape,
    invocation_state: InvocationStateEventShape,
    error: ErrorEventShape,
    sse_heartbeat: HeartbeatEventShape,
  }),
);
/** What is heard of an invocation, by its `event`. */
export type InvocationEvent = LogEvent | InvocationStateEvent | ErrorEvent | HeartbeatEvent;
export const InvocationEvent: Schema<InvocationEvent> = InvocationEventShape;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
