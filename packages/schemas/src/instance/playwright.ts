import * as z from "zod/mini";
import { SlugName, Timestamp } from "../base/common.ts";
import { errorFields } from "../base/error.ts";
import { checked, lazyObject } from "../base/schema.ts";

/** Input of `browsers.playwright.execute`. */
export interface ExecutePlaywright extends z.input<typeof ExecutePlaywright> {}
export const ExecutePlaywright = lazyObject(() => ({
  /** Body of an async function in TypeScript or JavaScript, with `page`, `context` and `browser` in scope; what it returns becomes `result`. At most 300,000 characters. */
  code: checked(z.string(), z.minLength(1), z.maxLength(300_000)),
  /** Seconds until the code is ended, 1 to 300. */
  timeout_sec: z._default(checked(z.int(), z.minimum(1), z.maximum(300)), 60),
  /** A name for calls that share a tab: `page` is the tab of this executor, and its calls run one after another. The first call opens the tab. At most 8; delete an executor that is no longer needed. When absent, or `default`: `page` is the front page, or another one if an executor has it, and calls run at once. At most 4 calls of a session run at once, of all names together; further ones wait. */
  executor: z.optional(SlugName),
}));

/** How Playwright code ended. */
export interface PlaywrightResult extends z.output<typeof PlaywrightResult> {}
export const PlaywrightResult = lazyObject(() => ({
  /** Whether the code ran to its end. */
  success: z.boolean(),
  /** What it returned, as JSON; absent when it returned nothing. */
  result: z.optional(z.unknown()),
  /** Why it failed, with the line of the code; absent on success. */
  error: z.optional(z.string()),
  /** What it wrote with `console.log` and the like. */
  stdout: z.optional(z.string()),
  /** What it wrote with `console.error` and `console.warn`. */
  stderr: z.optional(z.string()),
  /** The tab of `page`; absent if the call failed before it had one. */
  tab: z.optional(
    z.object({
      /** Id of the tab's target, as in CDP. */
      target_id: z.string(),
      /** Whether this call opened the tab. */
      created: z.boolean(),
    }),
  ),
}));

/** Calls of `browsers.playwright.execute` with one name. */
export interface PlaywrightExecutor extends z.output<typeof PlaywrightExecutor> {}
export const PlaywrightExecutor = lazyObject(() => ({
  /** Its name; `default` for calls without one. */
  name: z.string(),
  /** Whether a call runs or waits. */
  busy: z.boolean(),
  /** When its first call came; for `default`, when the browser was started, which is before the session if the browser was kept ready. */
  created_at: Timestamp,
  /** When its latest call came. */
  last_used_at: Timestamp,
  /** Its tab, while it is open; absent for `default`. */
  target_id: z.optional(z.string()),
  /** Address of the tab. */
  url: z.optional(z.string()),
}));

/** A call of `browsers.playwright.execute` conflicts with other use of the session. */
export interface PlaywrightConflict extends z.output<typeof PlaywrightConflict> {}
export const PlaywrightConflict = lazyObject(() => ({
  ...errorFields(),
  /** The executors, when the session has no room for another one; one of them can be deleted. */
  executors: z.optional(z.array(PlaywrightExecutor)),
}));

/** Answer of `browsers.playwright.executors.list`. */
export interface PlaywrightExecutors extends z.output<typeof PlaywrightExecutors> {}
export const PlaywrightExecutors = lazyObject(() => ({
  /** `default` is the first, then the oldest. */
  executors: z.array(PlaywrightExecutor),
}));

/** Input of `browsers.playwright.executors.delete`. */
export interface DeletePlaywrightExecutor extends z.input<typeof DeletePlaywrightExecutor> {}
export const DeletePlaywrightExecutor = lazyObject(() => ({
  /** Close its tab as well. No effect on `default`. */
  close_tab: z._default(z.boolean(), false),
}));
