import * as z from "zod/mini";
import { checked, lazyObject, openEnum } from "../base/schema.ts";

const Timezone = () => checked(z.string(), z.minLength(1), z.maxLength(64));
const Locale = () => checked(z.string(), z.minLength(2), z.maxLength(35));

/** Where pages see the browser: its time zone and its language. */
export interface BrowserLocationConfig extends z.output<typeof BrowserLocationConfig> {}
export const BrowserLocationConfig = lazyObject(() => ({
  /** Time zone by its IANA name, such as `Europe/Berlin`; `exit` for the time zone of the proxy's country. UTC when absent. */
  timezone: z.optional(Timezone()),
  /** Language and region as a BCP 47 tag, such as `de-CH`: of `navigator.language`, `Accept-Language` and `Intl`. Other values than `en-US` need a full Chromium. `en-US` when absent. */
  locale: z.optional(Locale()),
}));

/** Another place for a running session. A field that is absent stays. */
export interface BrowserLocationUpdate extends z.output<typeof BrowserLocationUpdate> {}
export const BrowserLocationUpdate = lazyObject(() => ({
  /** Time zone by its IANA name; `exit` for the time zone of the proxy's country; `null` for UTC. */
  timezone: z.optional(z.nullable(Timezone())),
  /** Language and region as a BCP 47 tag; `null` for `en-US`. */
  locale: z.optional(z.nullable(Locale())),
}));

/** Where pages see a session's browser. */
export interface BrowserLocation extends z.output<typeof BrowserLocation> {}
export const BrowserLocation = lazyObject(() => ({
  /** Time zone as pages read it. */
  timezone: z.string(),
  /** Language and region as pages read them. */
  locale: z.string(),
  /** `override`: the session, its pool or its profile names the time zone. `exit`: it is the one of the proxy. */
  timezone_source: openEnum("override", "exit", "default"),
  /** `override`: the session, its pool or its profile names the locale. */
  locale_source: openEnum("override", "default"),
}));
