import * as z from "zod/mini";
import { BrowserTelemetryRequest } from "../telemetry/captured-telemetry.ts";
import { BrowserProxyConfig, BrowserRegionName, UpdateBrowserNetwork } from "./browser-network.ts";
import { DeletionStatus, DisplayName, Id, pageFields, SlugName, Tags, Timestamp } from "../base/common.ts";
import { BrowserConditionsUpdate } from "./browser-conditions.ts";
import { BrowserLocationUpdate } from "./browser-location.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";
import { Browser, BrowserProfile, BrowserViewportUpdate } from "./browser.ts";
import { disconnectTimeout } from "./timeouts.ts";
import { rule } from "../base/rules.ts";

/** Input of `browsers.update`. */
export interface UpdateBrowser extends z.input<typeof UpdateBrowser> {}
export const UpdateBrowser = z.lazy(() =>
  checked(
    z.object({
      /** The new name, unique among the project's running sessions; `null` or `""` takes it away. */
      name: z.optional(
        z.pipe(
          z.transform((name: string | null) => (name === "" ? null : name)),
          z.nullable(SlugName),
        ),
      ),
      /** The new labels; they replace the old ones. `null` leaves them, `{}` takes them away. */
      tags: z.optional(z.nullable(Tags)),
      /** The proxy that its traffic leaves by, by id or name; `null` or `""` takes it away. */
      proxy_id: z.optional(z.nullable(z.string())),
      /** What its traffic leaves by: a proxy by id or by name, or none; not together with `proxy_id` and `disable_default_proxy`. */
      proxy: z.optional(BrowserProxyConfig),
      /** Connect directly, not through the default proxy. */
      disable_default_proxy: z.optional(z.boolean()),
      /** Hosts that it may reach from now on, within the rules of its project. Open connections that the new rules refuse are closed. */
      network: z.optional(UpdateBrowserNetwork),
      /** The profile to load; only while the session has none. */
      profile: z.optional(BrowserProfile),
      /** End the session when its last CDP or WebDriver BiDi client has been gone for as many seconds, 0 to 86400, counted from this change if none is connected; `null` = it continues without clients. */
      disconnect_timeout_seconds: z.optional(z.nullable(disconnectTimeout())),
      /** Freeze the session after as many seconds without use, 1 to 259200; 0 = never. */
      sleep_after_seconds: z.optional(checked(z.int(), z.minimum(0), z.maximum(259_200))),
      /** The new size. */
      viewport: z.optional(BrowserViewportUpdate),
      /** A page to open in the front tab, after all other changes; `""` opens none. Where the page cannot be opened, the answer is 409 `navigation_failed`, and the other changes stay. */
      start_url: z.optional(checked(z.string(), z.maxLength(8192))),
      /** The new enterprise policies, at most 1000, and 5 MiB as JSON; they replace the old ones, `{}` takes them away. They need a sandbox and a full Chromium. Where the browser has to be started again for them, CDP clients are closed with 1012. */
      chrome_policy: z.optional(z.record(z.string(), z.unknown())),
      /** Where pages see it from now on. Another place restarts the browser: cookies and storage stay, tabs close, and CDP clients are closed with 1012. */
      location: z.optional(BrowserLocationUpdate),
      /** Permissions, position, color scheme, motion and downloads of pages from now on. Other conditions restart the browser, as another `location` does. */
      conditions: z.optional(BrowserConditionsUpdate),
      /** What telemetry is to capture from now on. */
      telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
    }),
    rule(
      (change) =>
        change.proxy === undefined || (change.proxy_id === undefined && change.disable_default_proxy === undefined),
      "give proxy alone, without proxy_id and disable_default_proxy",
      {
        keywords: {
          if: { required: ["proxy"] },
          then: { not: { anyOf: [{ required: ["proxy_id"] }, { required: ["disable_default_proxy"] }] } },
        },
      },
    ),
  ),
);

/** Input of `browsers.extend`. */
export interface ExtendBrowser extends z.input<typeof ExtendBrowser> {}
export const ExtendBrowser = lazyObject(() => ({
  /** New maximum duration in seconds from now, 10 to 604800 (7 days). Default: the same number of seconds as before, or no limit if the session has none. */
  max_duration_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(604_800))),
}));

/** Input of `browsers.fork`. */
export interface ForkBrowser extends z.input<typeof ForkBrowser> {}
export const ForkBrowser = z.lazy(() =>
  checked(
    z.object({
      /** How many sessions to start, 1 to 32; as many as `names`, or 1, when absent. */
      count: z.optional(checked(z.int(), z.minimum(1), z.maximum(32))),
      /** Names of the new sessions in their order, each unique among the project's running sessions. At most `count`. */
      names: z.optional(checked(z.array(SlugName), z.minLength(1), z.maxLength(32))),
      /** Seconds without use after which each new session ends, 10 to 259200 (72 hours); as the forked session when absent. */
      timeout_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(259_200))),
      /** `exact`: copies of the running processes. `restored`: new browsers with its cookies, storage and tabs; pages load again. `best` (default): exact where that is possible. */
      mode: z._default(z.enum(["exact", "restored", "best"]), "best"),
    }),
    rule(
      ({ count, names }) => count === undefined || names === undefined || names.length <= count,
      { path: ["names"], error: "expected at most as many names as count" },
      // JSON Schema cannot compare them.
      {},
    ),
  ),
);

/** Why a fork did not start. */
export interface ForkError extends z.output<typeof ForkError> {}
export const ForkError = lazyObject(() => ({
  /** Its place among the requested sessions, from 0. */
  index: z.int(),
  /** As the `code` of an error. */
  code: z.string(),
  /** For people. */
  message: z.string(),
}));

/** Answer of `browsers.fork`. */
export interface ForkedBrowsers extends z.output<typeof ForkedBrowsers> {}
export const ForkedBrowsers = lazyObject(() => ({
  /** How they were created: `exact` or `restored`. */
  mode: openEnum("exact", "restored"),
  /** Why `best` is not `exact`; absent otherwise. */
  not_exact_because: z.optional(z.string()),
  /** Milliseconds in which the forked session was paused: 0 for `restored`. */
  paused_ms: z.int(),
  /** The new sessions, in their order. */
  browsers: z.array(Browser),
  /** Sessions that did not start; absent when all did. */
  errors: z.optional(z.array(ForkError)),
}));

/** Input of `browsers.snapshot`. */
export interface CreateSnapshot extends z.input<typeof CreateSnapshot> {}
export const CreateSnapshot = lazyObject(() => ({
  /** Name for people, 1 to 255 characters; it need not be unique. */
  name: z.optional(DisplayName),
  /** End the session once its state is stored. Default: it continues. */
  stop: z._default(z.boolean(), false),
  /** `exact`: the running processes, for sessions with `forkable`. `restored`: cookies, storage and tabs; pages load again. `best` (default): exact where that is possible. */
  mode: z._default(z.enum(["exact", "restored", "best"]), "best"),
}));

/** The stored state of a session. It contains its logins and secrets, and no operation returns it. */
export interface Snapshot extends z.output<typeof Snapshot> {}
export const Snapshot = lazyObject(() => ({
  /** Stable identifier. */
  id: Id,
  /** Name for people. */
  name: z.optional(z.string()),
  /** The session whose state it is. */
  session_id: z.string(),
  /** `exact`: sessions from it continue with the same processes. `restored`: new browsers with its cookies, storage and tabs. */
  engine: openEnum("exact", "restored"),
  /** Why `best` is not `exact`; absent otherwise. */
  not_exact_because: z.optional(z.string()),
  /** Bytes in the store. */
  size_bytes: z.int(),
  /** Milliseconds in which the session was paused: 0 for `restored`. */
  paused_ms: z.int(),
  /** Facts of the server that created it, such as `kernel`, `cpu` and `chromium`. A server with other facts answers 409 `snapshot_incompatible`. Absent for `restored`, which every server can use. */
  compatibility: z.optional(z.record(z.string(), z.string())),
  /** When it was stored. */
  created_at: Timestamp,
  /** When it will be deleted. */
  expires_at: Timestamp,
}));

/** Query of `snapshots.list`. */
export interface ListSnapshots extends z.input<typeof ListSnapshots> {}
export const ListSnapshots = lazyObject(() => ({
  ...pageFields,
  /** Only snapshots of this session. */
  session_id: z.optional(z.string()),
}));

/** Input of `browsers.list`. */
export interface ListBrowsers extends z.input<typeof ListBrowsers> {}
export const ListBrowsers = lazyObject(() => ({
  ...pageFields,
  /** Sessions that run, that ended, or both. */
  status: z._default(DeletionStatus, "active"),
  /** @deprecated `status=all` says the same. */
  // oxlint-disable-next-line typescript/no-deprecated -- a declaration is not a use
  include_deleted: z._default(z.boolean(), false),
  /** Part of a session's name or id, or of the id of its profile or proxy, or of its pool's name; case does not matter. */
  query: z.optional(z.string()),
  /** Only sessions of this pool, by its id or name. */
  pool: z.optional(z.string()),
  /** Only sessions that run there. */
  region: z.optional(BrowserRegionName),
  /** Only sessions that carry all of these labels. */
  tags: z.optional(z.record(z.string(), z.string())),
}));

/** Query of `browsers.get`. */
export interface GetBrowser extends z.input<typeof GetBrowser> {}
export const GetBrowser = lazyObject(() => ({
  /** Find the session even if it has ended. */
  include_deleted: z._default(z.boolean(), false),
}));
