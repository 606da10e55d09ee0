import { exceededJsonBound, type JsonBounds } from "@shoal/router";
import { lazyObject, type Schema } from "@shoal/schemas";
import * as z from "zod/mini";

/** Name of the entry with the {@link SavedState}, the first of an archive. */
export const savedStateName = "shoal/state.json";
/** Longest such entry, in bytes. What of local storage would make it longer is left to the folders beside it. */
export const maxSavedStateBytes = 64 * 2 ** 20;
/** Items of local storage, of all origins together, in a saved state that Shoal writes. */
export const maxSavedItems = 100_000;
/** Origins in a saved state that Shoal writes. */
export const maxSavedOrigins = 10_000;
/** What any saved state has room for: the items and origins above, and several times the cookies that Chromium keeps. */
const savedStateBounds: JsonBounds = { values: 600_000, depth: 20 };

const SavedCookieShape = lazyObject(() => ({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string(),
  /** Seconds since 1970; -1 = with the browser's session. */
  expires: z.number(),
  httpOnly: z.boolean(),
  secure: z.boolean(),
  sameSite: z.optional(z.enum(["Strict", "Lax", "None"])),
  priority: z.optional(z.enum(["Low", "Medium", "High"])),
  sourceScheme: z.optional(z.enum(["Unset", "NonSecure", "Secure"])),
  sourcePort: z.optional(z.number()),
  partitionKey: z.optional(z.object({ topLevelSite: z.string(), hasCrossSiteAncestor: z.boolean() })),
}));
/** A cookie, as CDP has it. */
export interface SavedCookie extends z.output<typeof SavedCookieShape> {}

const SavedOriginShape = lazyObject(() => ({
  origin: z.string(),
  localStorage: z.array(z.object({ name: z.string(), value: z.string() })),
}));
/** The local storage of an origin. */
export interface SavedOrigin extends z.output<typeof SavedOriginShape> {}

export const SavedStateShape = lazyObject(() => ({
  version: z.literal(1),
  /**
   * What the folders beside this file lack: `cookies`, for those on disk may be older, or not even these, `session_cookies`, where the browser told none; `all`
   * where there are no folders.
   */
  apply: z.enum(["session_cookies", "cookies", "all"]),
  /** Every cookie. */
  cookies: z.array(SavedCookieShape),
  /** Local storage, for those who read this file; a browser takes it from the folders, unless `apply` is `all`. */
  origins: z.array(SavedOriginShape),
  /** Origins whose local storage had no room here. */
  origins_left_out: z.optional(z.int()),
}));
/** What is kept beside the folders of a profile: what Chromium keeps in memory only, and what is to be read without a browser. */
export interface SavedState extends z.output<typeof SavedStateShape> {}
export const SavedState: Schema<SavedState> = SavedStateShape;

/** Reads the entry. @throws {Error} when it is not a saved state, or has more values than one may have. */
export function readSavedState(bytes: Buffer): SavedState {
  const exceeded = exceededJsonBound(bytes, savedStateBounds);
  if (exceeded !== undefined)
    throw new Error(
      `${savedStateName} exceeds the limit of ${String(savedStateBounds[exceeded])} for its ${exceeded === "values" ? "values" : "depth"}.`,
    );
  const result = z.safeParse(SavedState, JSON.parse(bytes.toString("utf8")));
  if (!result.success) throw new Error(`${savedStateName} is not what it should be: ${result.error.issues[0]?.message ?? "unknown"}.`);
  return result.data;
}
