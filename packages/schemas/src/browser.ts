import * as z from "zod/mini";
import {
  BrowserMemory,
  BrowserNetworkConfigShape,
  BrowserProxyConfigShape,
  BrowserProxyShape,
  BrowserRegion,
  BrowserRegionName,
  memorySizes,
} from "./browser-network.ts";
import { DeletionStatus, pageFields, SlugName, Tags, Timestamp } from "./common.ts";
import { ProfileShape } from "./profile.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";
import { TelemetryExportRequestShape, TelemetryExportShape } from "./telemetry-export.ts";

export const BrowserViewportShape = lazyObject(() => ({
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  width: checked(z.int(), z.minimum(1)),
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  height: checked(z.int(), z.minimum(1)),
  /** How often pages are drawn, in Hz, at least 1; absent, it depends on the size. Holds for browsers with a window: headless ones draw at 60. */
  refresh_rate: z.optional(checked(z.int(), z.minimum(1))),
}));
/** Size of the visible page; of the whole screen where the browser has a window. */
export interface BrowserViewport extends z.output<typeof BrowserViewportShape> {}
export const BrowserViewport: Schema<BrowserViewport> = BrowserViewportShape;

export const BrowserViewportUpdateShape = lazyObject(() => ({
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  width: checked(z.int(), z.minimum(1)),
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  height: checked(z.int(), z.minimum(1)),
  /** How often pages are drawn, in Hz, at least 1; absent, it depends on the size. Holds for browsers with a window: headless ones draw at 60. */
  refresh_rate: z.optional(checked(z.int(), z.minimum(1))),
  /** Resize even while somebody watches or a recording runs; the recording goes on in a new segment. */
  force: z._default(z.boolean(), false),
}));
/** A new size for a running session. */
export interface BrowserViewportUpdate extends z.input<typeof BrowserViewportUpdateShape> {}
export const BrowserViewportUpdate: Schema<z.output<typeof BrowserViewportUpdateShape>, BrowserViewportUpdate> = BrowserViewportUpdateShape;

export const BrowserProfileShape = z.lazy(() =>
  checked(
    z.object({
      /** The profile's id; give this or `name`. */
      id: z.optional(z.string()),
      /** The profile's name; give this or `id`. */
      name: z.optional(SlugName),
      /** Write the session's state back to the profile when the session ends. */
      save_changes: z._default(z.boolean(), false),
    }),
    z.refine((profile) => (profile.id === undefined) !== (profile.name === undefined), "give exactly one of id and name"),
  ),
);
/** The profile that a session starts from, by id or by name. */
export interface BrowserProfile extends z.input<typeof BrowserProfileShape> {}
export const BrowserProfile: Schema<z.output<typeof BrowserProfileShape>, BrowserProfile> = BrowserProfileShape;

export const BrowserExtensionShape = z.lazy(() =>
  checked(
    z.object({
      /** The extension's id; give this or `name`. */
      id: z.optional(z.string()),
      /** The extension's name; give this or `id`. */
      name: z.optional(SlugName),
    }),
    z.refine((extension) => (extension.id === undefined) !== (extension.name === undefined), "give exactly one of id and name"),
  ),
);
/** An extension that a session starts with, by id or by name. */
export interface BrowserExtension extends z.input<typeof BrowserExtensionShape> {}
export const BrowserExtension: Schema<z.output<typeof BrowserExtensionShape>, BrowserExtension> = BrowserExtensionShape;

const TelemetryCategory = lazyObject(() => ({
  /** Whether events of this category are captured. */
  enabled: z.optional(z.boolean()),
}));

const telemetryCategories = () => ({
  /** Console output and uncaught exceptions. */
  console: z.optional(TelemetryCategory),
  /** Navigation and load events. */
  page: z.optional(TelemetryCategory),
  /** Clicks, key presses and settled scrolls. */
  interaction: z.optional(TelemetryCategory),
  /** Requests and responses. */
  network: z.optional(TelemetryCategory),
  /** Operations of this contract on the session. */
  control: z.optional(TelemetryCategory),
  /** CDP clients and live viewers that come and go. */
  connection: z.optional(TelemetryCategory),
  /** Crashes and processes killed for want of memory. */
  system: z.optional(TelemetryCategory),
  /** Periodic screenshots of the page. */
  screenshot: z.optional(TelemetryCategory),
  /** Results of captcha solvers. */
  captcha: z.optional(TelemetryCategory),
});
export const BrowserTelemetryCategoriesShape = lazyObject(telemetryCategories);

export const BrowserTelemetryRequestShape = lazyObject(() => ({
  /** `true` captures the default set, `false` captures nothing. */
  enabled: z.optional(z.boolean()),
  /** Single categories, on or off. */
  browser: z.optional(BrowserTelemetryCategoriesShape),
  /** Where events are sent, beside what the service keeps. */
  export: z.optional(TelemetryExportRequestShape),
}));
/** What a session's telemetry is to capture. */
export interface BrowserTelemetryRequest extends z.input<typeof BrowserTelemetryRequestShape> {}
export const BrowserTelemetryRequest: Schema<z.output<typeof BrowserTelemetryRequestShape>, BrowserTelemetryRequest> = BrowserTelemetryRequestShape;

export const BrowserTelemetryShape = lazyObject(() => ({
  /** Every category, on or off. */
  browser: z.optional(BrowserTelemetryCategoriesShape),
  /** Where events are sent, beside what the service keeps. */
  export: z.optional(TelemetryExportShape),
}));
/** What a session's telemetry captures. */
export interface BrowserTelemetry extends z.output<typeof BrowserTelemetryShape> {}
export const BrowserTelemetry: Schema<BrowserTelemetry> = BrowserTelemetryShape;

export const BrowserPoolRefShape = lazyObject(() => ({
  /** The pool's id. */
  id: z.string(),
  /** The pool's name, where it has one. */
  name: z.optional(z.string()),
}));
/** The pool that a session was leased from. */
export interface BrowserPoolRef extends z.output<typeof BrowserPoolRefShape> {}
export const BrowserPoolRef: Schema<BrowserPoolRef> = BrowserPoolRefShape;

export const BrowserUsageShape = lazyObject(() => ({
  /** Milliseconds from the session's start to now, or to its end. */
  uptime_ms: z.int(),
}));
/** What a session has used. */
export interface BrowserUsage extends z.output<typeof BrowserUsageShape> {}
export const BrowserUsage: Schema<BrowserUsage> = BrowserUsageShape;

/** Why a session ended. */
export const endedReasons = ["deleted", "timeout", "max_duration", "browser_crashed", "instance_lost", "server_stopped"] as const;
/** One of {@link endedReasons}, or a reason that this version does not know. */
export type EndedReason = (typeof endedReasons)[number] | (string & {});

export const BrowserShape = lazyObject(() => ({
  /** When the session began. */
  created_at: Timestamp,
  /** WebSocket address for CDP clients such as Playwright and Puppeteer; it carries its own token, so treat it as a secret. It ends with the session, and with the API key that asked for it. */
  cdp_ws_url: z.string(),
  /** WebSocket address for WebDriver BiDi clients; it carries its own token, as `cdp_ws_url` does. */
  webdriver_ws_url: z.string(),
  /** Page that shows the session live and takes input; it opens without a key for whoever has it, so treat it as a secret. `readOnly=true` in its query only shows. */
  browser_live_view_url: z.optional(z.string()),
  /** The same page for those who may watch and do nothing: what they send is refused. */
  browser_live_view_read_only_url: z.optional(z.string()),
  /** Address of the session's own operations, without a key but with the session's token. */
  base_url: z.optional(z.string()),
  /** Whether the browser runs without a window. */
  headless: z.boolean(),
  /** Whether the browser hides the signs of automation. */
  stealth: z.boolean(),
  /** Whether the browser has a GPU. */
  gpu: z.optional(z.boolean()),
  /** Stable identifier. */
  session_id: z.string(),
  /** Unique among the project's running sessions. */
  name: z.optional(z.string()),
  /** Seconds without a CDP client, a live viewer or an operation in flight, after which the session ends. */
  timeout_seconds: z.int(),
  /** The profile that it started from. */
  profile: z.optional(ProfileShape),
  /** Whether the profile gets the session's state when the session ends; absent without a profile. */
  profile_save_changes: z.optional(z.boolean()),
  /** The proxy that its traffic leaves by. */
  proxy_id: z.optional(z.string()),
  /** What its traffic leaves by: a proxy, or none. */
  proxy: z.optional(BrowserProxyShape),
  /** What it may reach beyond public addresses; absent where the service's own rule holds. */
  network: z.optional(BrowserNetworkConfigShape),
  /** Where it runs: the region of its server, `default` where nobody has named it. */
  region: z.optional(BrowserRegion),
  /** Memory that it may take, browser and all: its limit, or what the machine has where nothing limits it. Whole GiB where it is that, or else MiB: `4GiB`, `15974MiB`. */
  memory: z.optional(BrowserMemory),
  /** The pool that it was leased from. */
  pool: z.optional(BrowserPoolRefShape),
  /** Size of the visible page. */
  viewport: z.optional(BrowserViewportShape),
  /** Whether the window shows the page alone. */
  kiosk_mode: z.optional(z.boolean()),
  /** The page that was asked for at the start, whether or not it loaded. */
  start_url: z.optional(z.string()),
  /** Enterprise policies in force; a list leaves those out that are more than 64 KiB. */
  chrome_policy: z.optional(z.record(z.string(), z.unknown())),
  /** Labels of the user's own. */
  tags: z.optional(Tags),
  /** When the session ended; absent while it runs. */
  deleted_at: z.optional(Timestamp),
  /** What it has used so far. */
  usage: z.optional(BrowserUsageShape),
  /** What its telemetry captures. */
  telemetry: z.optional(z.nullable(BrowserTelemetryShape)),
  /** When the session will end if nobody uses it until then; absent while it is in use. */
  expires_at: z.optional(Timestamp),
  /** Seconds after which the session ends even though it is used, from its start, or from when it was last extended; absent without such a limit. */
  max_duration_seconds: z.optional(z.int()),
  /** When the session ends even though it is used; absent without such a limit. */
  ends_at: z.optional(Timestamp),
  /** Why the session ended; absent while it runs. */
  ended_reason: z.optional(openEnum(...endedReasons)),
  /** How often a crashed Chromium was started again, 0 or 1: the second crash ends the session. */
  browser_restarts: z.optional(z.int()),
  /** Where the session runs: `sandbox`, or `process`, which isolates nothing. */
  placement: z.optional(openEnum("sandbox", "process")),
}));
/** A browser session. */
export interface Browser extends z.output<typeof BrowserShape> {}
export const Browser: Schema<Browser> = BrowserShape;

export const CreateBrowserShape = z.lazy(() =>
  checked(
    z.object({
      /** The app invocation that the session belongs to; the session ends with it. Not in this service yet, which has no invocations: it is refused with 501. */
      invocation_id: z.optional(z.string()),
      /** Unique among the project's running sessions. */
      name: z.optional(SlugName),
      /** Labels of the user's own. */
      tags: z.optional(Tags),
      /** Hide the signs of automation. */
      stealth: z.optional(z.boolean()),
      /** `false`: a full Chromium with a window, on a screen of its own. Without a window when absent. */
      headless: z.optional(z.boolean()),
      /** Run with a GPU. Sessions of this service have none, Chromium draws with the processor: `true` is refused, `false` changes nothing. */
      gpu: z.optional(z.boolean()),
      /** Seconds without a CDP client, a live viewer or an operation in flight, after which the session ends: 10 to 259200 (72 hours), 60 when absent. */
      timeout_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(259_200))),
      /** Seconds after which the session ends even though it is used: 10 to 604800 (7 days); without such a limit when absent. `browsers.extend` moves the end. */
      max_duration_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(604_800))),
      /** The profile to start from. */
      profile: z.optional(BrowserProfileShape),
      /** Extensions to start with, at most 20. */
      extensions: z.optional(checked(z.array(BrowserExtensionShape), z.maxLength(20))),
      /** Id of the proxy that its traffic leaves by; give this or `proxy`. */
      proxy_id: z.optional(z.string()),
      /** What its traffic leaves by: a proxy by id or by name, or none; give this or `proxy_id`. */
      proxy: z.optional(BrowserProxyConfigShape),
      /** What it may reach beyond public addresses; the service's own rule when absent. */
      network: z.optional(BrowserNetworkConfigShape),
      /** Where it runs, by the name of a region of the service; where the server is that is asked, when absent. */
      region: z.optional(BrowserRegionName),
      /** Memory that it may take, browser and all, beyond which the kernel ends its largest process: `8GiB` or `16GiB`, for sessions with a window (`headless: false`) in a sandbox. The service's own limit when absent. */
      memory: z.optional(z.enum(memorySizes)),
      /** Size of the visible page; 1920 × 1080 when absent. */
      viewport: z.optional(BrowserViewportShape),
      /** Show the page alone, without address bar and tabs. */
      kiosk_mode: z.optional(z.boolean()),
      /** A page to open at once; the session starts even if it does not load. */
      start_url: z.optional(checked(z.string(), z.maxLength(8192))),
      /** Enterprise policies, by Chrome's names for them; at most 1000, and 5 MiB as JSON. They need a sandbox and a full Chromium. */
      chrome_policy: z.optional(z.record(z.string(), z.unknown())),
      /** What telemetry is to capture; nothing when absent. */
      telemetry: z.optional(z.nullable(BrowserTelemetryRequestShape)),
    }),
    z.refine((browser) => browser.proxy === undefined || browser.proxy_id === undefined, "give proxy or proxy_id, not both"),
  ),
);
/** What `browsers.create` takes. */
export interface CreateBrowser extends z.input<typeof CreateBrowserShape> {}
export const CreateBrowser: Schema<z.output<typeof CreateBrowserShape>, CreateBrowser> = CreateBrowserShape;

export const UpdateBrowserShape = z.lazy(() =>
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
      /** The proxy that its traffic leaves by; `null` or `""` takes it away. */
      proxy_id: z.optional(z.nullable(z.string())),
      /** What its traffic leaves by: a proxy by id or by name, or none; not together with `proxy_id` and `disable_default_proxy`. */
      proxy: z.optional(BrowserProxyConfigShape),
      /** Connect directly, not through the default proxy. */
      disable_default_proxy: z.optional(z.boolean()),
      /** The profile to load; only while the session has none. */
      profile: z.optional(BrowserProfileShape),
      /** The new size. */
      viewport: z.optional(BrowserViewportUpdateShape),
      /** The new enterprise policies, at most 1000, and 5 MiB as JSON; they replace the old ones, `{}` takes them away. They need a sandbox and a full Chromium. Where the browser has to be started again for them, CDP clients are closed with 1012. */
      chrome_policy: z.optional(z.record(z.string(), z.unknown())),
      /** What telemetry is to capture from now on. */
      telemetry: z.optional(z.nullable(BrowserTelemetryRequestShape)),
    }),
    z.refine(
      (change) => change.proxy === undefined || (change.proxy_id === undefined && change.disable_default_proxy === undefined),
      "give proxy alone, without proxy_id and disable_default_proxy",
    ),
  ),
);
/** What `browsers.update` takes. */
export interface UpdateBrowser extends z.input<typeof UpdateBrowserShape> {}
export const UpdateBrowser: Schema<z.output<typeof UpdateBrowserShape>, UpdateBrowser> = UpdateBrowserShape;

export const ExtendBrowserShape = lazyObject(() => ({
  /** Seconds from now until the session ends even though it is used, 10 to 604800 (7 days); as many as before when absent. A session without such a limit has none afterwards either, unless this is given. */
  max_duration_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(604_800))),
}));
/** What `browsers.extend` takes. */
export interface ExtendBrowser extends z.input<typeof ExtendBrowserShape> {}
export const ExtendBrowser: Schema<z.output<typeof ExtendBrowserShape>, ExtendBrowser> = ExtendBrowserShape;

export const ListBrowsersShape = lazyObject(() => ({
  ...pageFields,
  /** Sessions that run, that ended, or both. */
  status: z._default(DeletionStatus, "active"),
  /** @deprecated `status=all` says the same. */
  // This is the field's declaration, not a use of it.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- declaring it is no use of it
  include_deleted: z._default(z.boolean(), false),
  /** Part of a session's name or id, or of the id of its profile or proxy, or of its pool's name; case does not matter. */
  query: z.optional(z.string()),
  /** Only sessions that run there. */
  region: z.optional(BrowserRegionName),
  /** Only sessions that carry all of these labels. */
  tags: z.optional(z.record(z.string(), z.string())),
}));
/** What `browsers.list` takes. */
export interface ListBrowsers extends z.input<typeof ListBrowsersShape> {}
export const ListBrowsers: Schema<z.output<typeof ListBrowsersShape>, ListBrowsers> = ListBrowsersShape;

export const GetBrowserShape = lazyObject(() => ({
  /** Find the session even if it has ended. */
  include_deleted: z._default(z.boolean(), false),
}));
/** What `browsers.get` takes beside the id or name. */
export interface GetBrowser extends z.input<typeof GetBrowserShape> {}
export const GetBrowser: Schema<z.output<typeof GetBrowserShape>, GetBrowser> = GetBrowserShape;
