import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import { lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import { CarriedSecrets } from "../../secrets/carried-secrets.ts";
import { SavedTab, maxTabs } from "../open-tabs/saved-tab.ts";

export const savedStateName = "shoal/state.json";
/** Local storage that does not fit is only in the folders. */
export const maxSavedStateBytes = 64 * 2 ** 20;
export const maxSavedItems = 100_000;
export const maxSavedOrigins = 10_000;
/** For reading: more than the limits above plus all cookies that Chromium can have. */
const savedStateBounds: JsonBounds = { values: 700_000, depth: 20 };

export interface SavedCookie extends z.output<typeof SavedCookie> {}
export const SavedCookie = lazyObject(() => ({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string(),
  /** Seconds since 1970; -1 for session cookies. */
  expires: z.number(),
  httpOnly: z.boolean(),
  secure: z.boolean(),
  sameSite: z.optional(z.enum(["Strict", "Lax", "None"])),
  priority: z.optional(z.enum(["Low", "Medium", "High"])),
  sourceScheme: z.optional(z.enum(["Unset", "NonSecure", "Secure"])),
  sourcePort: z.optional(z.number()),
  partitionKey: z.optional(z.object({ topLevelSite: z.string(), hasCrossSiteAncestor: z.boolean() })),
}));

export interface SavedOrigin extends z.output<typeof SavedOrigin> {}
export const SavedOrigin = lazyObject(() => ({
  origin: z.string(),
  localStorage: z.array(z.object({ name: z.string(), value: z.string() })),
}));

/** State that Chromium keeps only in memory, and state that is readable without a browser. */
export interface SavedState extends z.output<typeof SavedState> {}
export const SavedState = lazyObject(() => ({
  version: z.literal(1),
  /**
   * Parts that the folders lack. `cookies`: the folders may have older ones. `session_cookies`: the browser reported no
   * cookies. `all`: also local storage.
   */
  apply: z.enum(["session_cookies", "cookies", "all"]),
  cookies: z.array(SavedCookie),
  /** For readers of this file. A browser uses the folders instead, unless `apply` is `all`. */
  origins: z.array(SavedOrigin),
  origins_left_out: z.optional(z.int()),
  /** For a fork only, oldest first. */
  tabs: z.optional(z.array(SavedTab).check(z.maxLength(maxTabs))),
  secrets: z.optional(CarriedSecrets),
}));

export function readSavedState(bytes: Buffer): SavedState {
  const exceeded = exceededJsonBound(bytes, savedStateBounds);
  if (exceeded !== undefined)
    throw new Error(
      `${savedStateName} exceeds the limit of ${String(savedStateBounds[exceeded])} for its ${exceeded === "values" ? "values" : "depth"}.`,
    );
  const result = z.safeParse(SavedState, JSON.parse(bytes.toString("utf8")));
  if (!result.success)
    throw new Error(`${savedStateName} is invalid: ${result.error.issues[0]?.message ?? "unknown"}.`);
  return result.data;
}
