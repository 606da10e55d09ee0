import * as z from "zod/mini";
import { lazyObject, openEnum } from "../base/schema.ts";

/** Where an event was seen. */
export interface TelemetrySource extends z.output<typeof TelemetrySource> {}
export const TelemetrySource = lazyObject(() => ({
  /** `cdp`: Chromium's debugging protocol. `kernel_api`: the operations of this contract. `extension`: a script in the page. `local_process`: a process in the session. */
  kind: openEnum("cdp", "kernel_api", "extension", "local_process"),
  /** The source's own name for the event: `Runtime.consoleAPICalled`. */
  event: z.optional(z.string()),
  /** Further identifiers of the source's. */
  metadata: z.optional(z.record(z.string(), z.string())),
}));

/** Kind of a target, as CDP names it. */
export const targetType = () =>
  z.optional(openEnum("page", "background_page", "service_worker", "shared_worker", "other"));

/** Where in the browser something happened. Identifiers are CDP's own. */
export const contextFields = () => ({
  /** CDP session. */
  session_id: z.optional(z.string()),
  /** CDP target: a page or a worker. */
  target_id: z.optional(z.string()),
  /** Kind of target. */
  target_type: targetType(),
  /** Frame of the page. */
  frame_id: z.optional(z.string()),
  /** Document in the frame; a new one with every navigation. */
  loader_id: z.optional(z.string()),
  /** Address of the page; of a network event, that of the request. */
  url: z.optional(z.string()),
  /** Counts the navigations of the target's main frame. */
  nav_seq: z.optional(z.int()),
});

/** A kind of event. @param data - the fields of `data`. */
// @__NO_SIDE_EFFECTS__
export function telemetryEvent<const Type extends string, const Category extends string, Data extends z.core.$ZodShape>(
  type: Type,
  category: Category,
  data: () => Data,
) {
  return lazyObject(() => ({
    /** When it happened, in microseconds since 1970 (UTC). */
    ts: z.int(),
    /** The kind of event. */
    type: z.literal(type),
    /** The category that switches it on. */
    category: z.literal(category),
    /** Where it was seen. */
    source: TelemetrySource,
    /** The event. */
    data: z.optional(z.object(data())),
    /** Whether `data` was cut for its size. */
    truncated: z.optional(z.boolean()),
  }));
}
