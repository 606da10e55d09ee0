import * as z from "zod/mini";
import { Browser } from "../sessions/browser.ts";
import { pageFields, Timestamp } from "../base/common.ts";
import { ErrorEvent, HeartbeatEvent, LogEvent, OptionalSince } from "../base/events.ts";
import { checked, lazyObject, openEnum, openUnion } from "../base/schema.ts";
import { checkedLater } from "../base/rules.ts";

/** Bytes of a payload and of an output, in UTF-8. */
export const maxInvocationJsonBytes = 4.5 * 2 ** 20;

/** JSON as text. @param size - `maxBytes` for people. */
export const jsonText = (maxBytes: number = maxInvocationJsonBytes, size = "4.5 MiB") =>
  checked(
    z.string(),
    z.refine((text) => fits(text, maxBytes), { error: `expected at most ${size}`, abort: true }),
    z.refine((text) => text === "" || isJson(text), "expected JSON as text"),
  );
const name = () => checked(z.string(), z.minLength(1), z.maxLength(255));

/** States of an invocation. */
export const invocationStatuses = ["queued", "running", "succeeded", "failed"] as const;

/** One run of an app's action. */
export interface Invocation extends z.output<typeof Invocation> {}
export const Invocation = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The app that was asked. */
  app_name: z.string(),
  /** Label of the app's version. */
  version: z.string(),
  /** Name of the action. */
  action_name: z.string(),
  /** Its payload, JSON as text. */
  payload: z.optional(z.string()),
  /** Its output, JSON as text. */
  output: z.optional(z.string()),
  /** When it was asked. */
  started_at: Timestamp,
  /** End of the invocation; `null` or absent while it runs. */
  finished_at: z.optional(z.nullable(Timestamp)),
  /** `queued` and `running` go on; `succeeded` and `failed` are final. */
  status: openEnum(...invocationStatuses),
  /** Reason for the status, if the service knows more. */
  status_reason: z.optional(z.string()),
  /** Place among the waiting invocations of the project, from 1; absent unless it waits. Only in `invocations.get`. */
  queue_position: z.optional(z.int()),
  /** Failed runs that were repeated, oldest first; absent without one. */
  attempts: z.optional(
    z.array(
      z.object({
        /** End of the run. */
        failed_at: Timestamp,
        /** Reason of the failure. */
        status_reason: z.string(),
      }),
    ),
  ),
}));

/** Input of `invocations.create`. */
export interface CreateInvocation extends z.input<typeof CreateInvocation> {}
export const CreateInvocation = z.lazy(() =>
  checked(
    z.object({
      /** The app to ask, 1 to 255 characters. */
      app_name: name(),
      /** Label of the app's version, 1 to 255 characters. */
      version: z._default(name(), "latest"),
      /** Name of the action, 1 to 255 characters. */
      action_name: name(),
      /** Payload: JSON as text, up to 4.5 MiB in UTF-8. Empty = none. */
      payload: z.optional(jsonText()),
      /** Answer at once, with status `queued`, instead of when it has ended. */
      async: z._default(z.boolean(), false),
      /** With `async`: seconds after which it fails, 10 to 3600. */
      async_timeout_seconds: z._default(checked(z.int(), z.minimum(10), z.maximum(3600)), 900),
      /** With `async`: at a limit of concurrent invocations, wait for a free place instead of the answer 429. */
      queue: z.optional(z.boolean()),
      /** With `async`: runs again after a failure, up to this number of times, 0 to 10. Pauses double from 1 s to 5 minutes. */
      max_retries: z.optional(checked(z.int(), z.minimum(0), z.maximum(10))),
    }),
    checkedLater({
      keywords: {
        if: { required: ["async"], properties: { async: { const: true } } },
        else: { properties: { queue: { const: false }, max_retries: { const: 0 } } },
      },
    }),
  ),
);

/** A started invocation, and its output if it has ended. */
export interface CreatedInvocation extends z.output<typeof CreatedInvocation> {}
export const CreatedInvocation = lazyObject(() => ({
  /** Identifier of the invocation. */
  id: z.string(),
  /** Name of the action. */
  action_name: z.string(),
  /** `queued` for a call with `async`; otherwise how it ended. */
  status: openEnum(...invocationStatuses),
  /** Reason for the status, if the service knows more. */
  status_reason: z.optional(z.string()),
  /** Its output, JSON as text. */
  output: z.optional(z.string()),
  /** Place among the waiting invocations of the project, from 1; absent unless it waits. */
  queue_position: z.optional(z.int()),
}));

/** Input of `invocations.update`. */
export interface UpdateInvocation extends z.input<typeof UpdateInvocation> {}
export const UpdateInvocation = lazyObject(() => ({
  /** Final status; `failed` also cancels a running invocation. */
  status: z.enum(["succeeded", "failed"]),
  /** Output: JSON as text, up to 4.5 MiB in UTF-8. Empty = none. */
  output: z.optional(jsonText()),
}));

/** Input of `invocations.list`. */
export interface ListInvocations extends z.input<typeof ListInvocations> {}
export const ListInvocations = lazyObject(() => ({
  ...pageFields,
  /** Only invocations of this app. */
  app_name: z.optional(z.string()),
  /** Only invocations of this version. */
  version: z.optional(z.string()),
  /** Only invocations of this action. */
  action_name: z.optional(z.string()),
  /** Only invocations of this deployment. */
  deployment_id: z.optional(z.string()),
  /** Only invocations in this state. */
  status: z.optional(z.enum(invocationStatuses)),
  /** Only invocations that started after a time (ISO 8601) or within a period (`5m`, `1h30m`). */
  since: z.optional(OptionalSince),
  /** Part of the name of an app or action, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));

/** Query of `invocations.follow`. */
export interface FollowInvocation extends z.input<typeof FollowInvocation> {}
export const FollowInvocation = lazyObject(() => ({
  /** Where the log begins: a moment (ISO 8601), or how long ago (`5m`, `1h30m`). */
  since: z.optional(OptionalSince),
}));

/** The browser sessions of an invocation. */
export interface InvocationBrowsers extends z.output<typeof InvocationBrowsers> {}
export const InvocationBrowsers = lazyObject(() => ({
  /** Sessions that it has started and that run. */
  browsers: z.array(Browser),
}));

/** The state of an invocation, sent at the start of the stream and at each change. */
export interface InvocationStateEvent extends z.output<typeof InvocationStateEvent> {}
export const InvocationStateEvent = lazyObject(() => ({
  /** Always `invocation_state`. */
  event: z.literal("invocation_state"),
  /** The invocation as it is now. */
  invocation: Invocation,
  /** Time of this state. */
  timestamp: Timestamp,
}));

/** An event of an invocation, identified by `event`. */
export type InvocationEvent = LogEvent | InvocationStateEvent | ErrorEvent | HeartbeatEvent;
export const InvocationEvent = z.lazy(() =>
  openUnion("event", {
    log: LogEvent,
    invocation_state: InvocationStateEvent,
    error: ErrorEvent,
    sse_heartbeat: HeartbeatEvent,
  }),
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a value has at most so many bytes as JSON in UTF-8. */
export function jsonFits(value: unknown, maxBytes: number): boolean {
  return fits(JSON.stringify(value), maxBytes);
}

function fits(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes / 3 || new TextEncoder().encode(text).length <= maxBytes;
}
