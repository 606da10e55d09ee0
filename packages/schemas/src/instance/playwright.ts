import * as z from "zod/mini";
import { checked, lazyObject } from "../base/schema.ts";

/** Input of `browsers.playwright.execute`. */
export interface ExecutePlaywright extends z.input<typeof ExecutePlaywright> {}
export const ExecutePlaywright = lazyObject(() => ({
  /** Body of an async function in TypeScript or JavaScript, with `page`, `context` and `browser` in scope; what it returns becomes `result`. At most 300,000 characters. */
  code: checked(z.string(), z.minLength(1), z.maxLength(300_000)),
  /** Seconds until the code is ended, 1 to 300. */
  timeout_sec: z._default(checked(z.int(), z.minimum(1), z.maximum(300)), 60),
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
}));
