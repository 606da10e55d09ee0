import * as z from "zod/mini";
import {
  BrowserMemory,
  BrowserNetwork,
  BrowserNetworkConfig,
  BrowserProxyConfig,
  BrowserProxy,
  BrowserRegion,
  BrowserRegionName,
  memorySizes,
} from "./browser-network.ts";
import { Id, SlugName, Tags, Timestamp } from "../base/common.ts";
import { BrowserConditions, BrowserConditionsConfig } from "./browser-conditions.ts";
import { BrowserLocation, BrowserLocationConfig } from "./browser-location.ts";
import {
  BrowserRecordingConfig,
  BrowserReplay,
  BrowserReplayConfig,
  BrowserVideoConfig,
} from "../telemetry/network-recording.ts";
import { WebBotAuth } from "./web-bot-auth.ts";
import { BrowserVault, VaultRef } from "../base/stored-secret.ts";
import { Profile } from "./profile.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";
import { BrowserTelemetry, BrowserTelemetryRequest } from "../telemetry/captured-telemetry.ts";
import { disconnectTimeout } from "./timeouts.ts";
import { atMostOne, checkedLater, exactlyOne, rule } from "../base/rules.ts";
import { maxViewportPixels } from "../base/viewport-limits.ts";

/** Size of the visible page; of the whole screen where the browser has a window. */
export interface BrowserViewport extends z.output<typeof BrowserViewport> {}
export const BrowserViewport = lazyObject(() => ({
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  width: checked(z.int(), z.minimum(1), checkedLater({ keywords: { maximum: maxViewportPixels } })),
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  height: checked(z.int(), z.minimum(1), checkedLater({ keywords: { maximum: maxViewportPixels } })),
  /** How often pages are drawn, in Hz, at least 1; default: depends on the size. Only for browsers with a window: headless ones draw at 60. */
  refresh_rate: z.optional(checked(z.int(), z.minimum(1), z.maximum(2_147_483_647))),
}));

/** A new size for a running session. */
export interface BrowserViewportUpdate extends z.input<typeof BrowserViewportUpdate> {}
export const BrowserViewportUpdate = lazyObject(() => ({
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  width: checked(z.int(), z.minimum(1), checkedLater({ keywords: { maximum: maxViewportPixels } })),
  /** CSS pixels, 1 to 16384; to 7680 where the browser has a window. */
  height: checked(z.int(), z.minimum(1), checkedLater({ keywords: { maximum: maxViewportPixels } })),
  /** How often pages are drawn, in Hz, at least 1; default: depends on the size. Only for browsers with a window: headless ones draw at 60. */
  refresh_rate: z.optional(checked(z.int(), z.minimum(1), z.maximum(2_147_483_647))),
  /** Resize even while a viewer watches or a recording runs; the recording continues in a new segment. */
  force: z._default(z.boolean(), false),
}));

/** The profile that a session starts from, by id or by name. */
export interface BrowserProfile extends z.input<typeof BrowserProfile> {}
export const BrowserProfile = z.lazy(() =>
  checked(
    z.object({
      /** The profile's id; pass either this or `name`. */
      id: z.optional(z.string()),
      /** The profile's name; pass either this or `id`. */
      name: z.optional(SlugName),
      /** Write the session's state back to the profile when the session ends. */
      save_changes: z._default(z.boolean(), false),
    }),
    exactlyOne("id", "name"),
  ),
);

/** An extension that a session starts with, by id or by name. */
export interface BrowserExtension extends z.input<typeof BrowserExtension> {}
export const BrowserExtension = z.lazy(() =>
  checked(
    z.object({
      /** The extension's id; pass either this or `name`. */
      id: z.optional(z.string()),
      /** The extension's name; pass either this or `id`. */
      name: z.optional(SlugName),
    }),
    exactlyOne("id", "name"),
  ),
);

/** The pool that a session was leased from. */
export interface BrowserPoolRef extends z.output<typeof BrowserPoolRef> {}
export const BrowserPoolRef = lazyObject(() => ({
  /** The pool's id. */
  id: z.string(),
  /** The pool's name, if it has one. */
  name: z.optional(z.string()),
}));

/** What a session has used. */
export interface BrowserUsage extends z.output<typeof BrowserUsage> {}
export const BrowserUsage = lazyObject(() => ({
  /** Milliseconds from the session's start to now, or to its end. */
  uptime_ms: z.int(),
}));

/** Present load of a session. */
export interface BrowserStats extends z.output<typeof BrowserStats> {}
export const BrowserStats = lazyObject(() => ({
  /** Percent of one processor since the last measurement, for all processes of the session; absent outside Linux. */
  cpu_pct: z.optional(z.number()),
  /** Bytes of memory that the processes of the session use, without shared memory and cached files; absent outside Linux. */
  mem_bytes: z.optional(z.int()),
  /** Processes of the session, with those of the browser; absent outside Linux. */
  processes: z.optional(z.int()),
  /** Open pages. */
  pages: z.int(),
  /** Connected CDP and WebDriver BiDi clients. */
  clients: z.int(),
  /** Connected live views. */
  viewers: z.int(),
}));

/** Why a session ended. */
export const endedReasons = [
  "deleted",
  "timeout",
  "max_duration",
  "disconnected",
  "browser_crashed",
  "instance_lost",
  "server_stopped",
] as const;
/** One of {@link endedReasons}, or a reason that this version does not know. */
export type EndedReason = (typeof endedReasons)[number] | (string & {});

const SessionEnder = lazyObject(() => ({
  /** `api_key`, `user`, `pool`, `invocation`, or `login`. */
  type: openEnum("api_key", "user", "pool", "invocation", "login"),
  /** Id of the key, user, pool or invocation; absent for a login. */
  id: z.optional(z.string()),
  /** Name of the key, or the user's email address, at that time. */
  name: z.optional(z.string()),
}));

/** How a session started, was used, and ended. */
export interface BrowserLifecycle extends z.output<typeof BrowserLifecycle> {}
export const BrowserLifecycle = lazyObject(() => ({
  /** `warm`: it took a browser that was waiting. `cold`: a browser was started for it. */
  start: z.optional(openEnum("warm", "cold")),
  /** When a client, a viewer or an operation first used it. */
  first_used_at: z.optional(Timestamp),
  /** How often it slept; absent = never. */
  sleeps: z.optional(z.int()),
  /** The caller that ended it; absent while it runs, and if no request ended it. */
  ended_by: z.optional(SessionEnder),
  /** What the service saw of an unexpected end, such as an exit code and the last lines of the session's program. Content of the session: at most 2000 characters. */
  ended_detail: z.optional(z.string()),
}));

/** The client of another service that created a session, or the operation `browsers.render`. */
export interface BrowserOrigin extends z.output<typeof BrowserOrigin> {}
export const BrowserOrigin = lazyObject(() => ({
  /** The interface of the service that the client was written for: `browserbase`. `render` for a page that is being rendered. */
  dialect: z.string(),
  /** What that client stored with the session. */
  metadata: z.optional(z.record(z.string(), z.unknown())),
}));

const sourceFields = () => ({
  /** The client of another service, or the operation `browsers.render`, that created it; absent for the clients of this one. */
  origin: z.optional(BrowserOrigin),
  /** The pool that it was leased from. */
  pool: z.optional(BrowserPoolRef),
  /** Id of the session whose state it started with: see `browsers.fork`. */
  forked_from: z.optional(z.string()),
  /** Id of the snapshot that it started from, which may be deleted. Specific to Shoal. */
  snapshot_id: z.optional(z.string()),
  /** Vaults whose items can be used in it; absent = none. */
  vaults: z.optional(z.array(BrowserVault)),
});

const addressFields = () => ({
  /** WebSocket address for CDP clients such as Playwright and Puppeteer; it carries its own token, so treat it as a secret. It is valid until the session or the requesting API key ends. */
  cdp_ws_url: z.string(),
  /** WebSocket address for WebDriver BiDi clients; it carries its own token, as `cdp_ws_url` does. */
  webdriver_ws_url: z.string(),
  /** WebSocket address for Playwright's own protocol: `chromium.connect(address)`; it carries its own token, as `cdp_ws_url` does. Absent with `isolation: "context"`. */
  playwright_ws_url: z.optional(z.string()),
  /** Page that shows the session live and takes input; anyone with this URL controls the session, so treat it as a secret. With `readOnly=true` it does not take input. */
  browser_live_view_url: z.optional(z.string()),
  /** The same page for watching only: input is rejected. */
  browser_live_view_read_only_url: z.optional(z.string()),
  /** Address of the session's own operations, without a key but with the session's token. */
  base_url: z.optional(z.string()),
});

const conditionFields = () => ({
  /** Where pages see it; absent with the time zone and the language of every session, UTC and `en-US`. */
  location: z.optional(BrowserLocation),
  /** Permissions, position and preferences of pages; absent without a choice. */
  conditions: z.optional(BrowserConditions),
  /** What the session says about a video from its start; absent when `default_recording` decides. Specific to Shoal. */
  recording: z.optional(BrowserVideoConfig),
  /** Id of the recording of its network. Specific to Shoal. */
  network_recording_id: z.optional(z.string()),
  /** The recording that answers its requests. Specific to Shoal. */
  network_replay: z.optional(BrowserReplay),
});

/** A browser session. */
export interface Browser extends z.output<typeof Browser> {}
export const Browser = lazyObject(() => ({
  /** When the session began. */
  created_at: Timestamp,
  ...addressFields(),
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
  /** The profile that the session started with. */
  profile: z.optional(Profile),
  /** Whether the session's state is saved to the profile at its end; absent without a profile. */
  profile_save_changes: z.optional(z.boolean()),
  /** Id of the session's proxy. */
  proxy_id: z.optional(z.string()),
  /** The session's proxy, or none. */
  proxy: z.optional(BrowserProxy),
  /** What the session may reach; absent when only the rules of the service and of the project apply. */
  network: z.optional(BrowserNetwork),
  /** How its requests are signed; absent when they are not. */
  web_bot_auth: z.optional(WebBotAuth),
  ...conditionFields(),
  /** Region of its server; `default` if the operator has not set one. */
  region: z.optional(BrowserRegion),
  /** `true` for the browser of a login of a connection. Only administrators can look into it, because secrets are typed in it. */
  signs_in: z.optional(z.boolean()),
  /** Memory limit of the session with its browser, or the machine's memory without a limit. In GiB, or in MiB if it is not a whole number of GiB: `4GiB`, `15974MiB`. */
  memory: z.optional(BrowserMemory),
  ...sourceFields(),
  /** Size of the visible page. */
  viewport: z.optional(BrowserViewport),
  /** Whether the window shows the page alone. */
  kiosk_mode: z.optional(z.boolean()),
  /** The requested start page, loaded or not. */
  start_url: z.optional(z.string()),
  /** Address of the page that was opened or navigated last, without user name, query and fragment, at most 1024 characters. Absent without a page, and after the end. */
  page_url: z.optional(z.string()),
  /** Enterprise policies in force; a list leaves those out that are more than 64 KiB. */
  chrome_policy: z.optional(z.record(z.string(), z.unknown())),
  /** Labels of the user's own. */
  tags: z.optional(Tags),
  /** When the session ended; absent while it runs. */
  deleted_at: z.optional(Timestamp),
  /** What it has used so far. */
  usage: z.optional(BrowserUsage),
  /** Its telemetry settings; of an ended session, those at its end. */
  telemetry: z.optional(z.nullable(BrowserTelemetry)),
  /** When the session ends unless it is used; absent while it is in use. */
  expires_at: z.optional(Timestamp),
  /** Maximum duration in seconds, from the start or the last extension; absent without a limit. */
  max_duration_seconds: z.optional(z.int()),
  /** When the maximum duration ends; absent without a limit. */
  ends_at: z.optional(Timestamp),
  /** Seconds after the last client until the session ends; absent if it continues without clients. */
  disconnect_timeout_seconds: z.optional(z.int()),
  /** Seconds after the start in which a client must connect; absent without a limit. */
  connect_timeout_seconds: z.optional(z.int()),
  /** Seconds without use after which the session sleeps; absent if it never sleeps. */
  sleep_after_seconds: z.optional(z.int()),
  /** Since when the session sleeps: its processes are frozen until the next use. Absent while it is awake. */
  asleep_since: z.optional(Timestamp),
  /** Why the session ended; absent while it runs. */
  ended_reason: z.optional(openEnum(...endedReasons)),
  /** More about its start and its end. Running sessions of other servers, and sessions that a lost server ran, have none. */
  lifecycle: z.optional(BrowserLifecycle),
  /** How often a crashed Chromium was started again, 0 or 1: the second crash ends the session. */
  browser_restarts: z.optional(z.int()),
  /** Where the session runs: `sandbox`, `docker` (a container), `kubernetes` (a pod), or `process`, which does not isolate. */
  placement: z.optional(openEnum("sandbox", "docker", "kubernetes", "process")),
  /** `context`: the session shares its browser with other sessions of the project. Absent for a session with a separate browser. */
  isolation: z.optional(openEnum("process", "context")),
}));

/** The stored state that a session starts with. */
export interface SnapshotRef extends z.input<typeof SnapshotRef> {}
export const SnapshotRef = lazyObject(() => ({
  /** Id of the snapshot. */
  id: Id,
}));

/** Input of `browsers.create`. */
export interface CreateBrowser extends z.input<typeof CreateBrowser> {}
export const CreateBrowser = z.lazy(() =>
  checked(
    z.object({
      /** A running app invocation that the session belongs to. The session ends when the invocation fails, times out or is cancelled; after success, it continues. Empty = none. */
      invocation_id: z.optional(z.string()),
      /** Unique among the project's running sessions. */
      name: z.optional(SlugName),
      /** Labels of the user's own. */
      tags: z.optional(Tags),
      /** Hide the signs of automation. */
      stealth: z.optional(z.boolean()),
      /** `false`: a full Chromium with a window, on its own screen. Default: headless. */
      headless: z.optional(z.boolean()),
      /** Run with a GPU. Sessions of this service have none, Chromium draws with the processor: `true` is refused, `false` changes nothing. */
      gpu: z.optional(z.boolean()),
      /** Seconds without a CDP client, a live viewer or an operation in flight, after which the session ends: 10 to 259200 (72 hours), 60 when absent. */
      timeout_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(259_200))),
      /** Maximum duration in seconds, even while the session is used: 10 to 604800 (7 days). Default: no limit. `browsers.extend` moves the end. */
      max_duration_seconds: z.optional(checked(z.int(), z.minimum(10), z.maximum(604_800))),
      /** End the session when its last CDP or WebDriver BiDi client has been gone for as many seconds, 0 to 86400. Viewers and operations do not count. Default: it continues until `timeout_seconds`. */
      disconnect_timeout_seconds: z.optional(disconnectTimeout()),
      /** End the session if no CDP or WebDriver BiDi client connects within as many seconds after its start, 5 to 86400. Default: no limit. */
      connect_timeout_seconds: z.optional(checked(z.int(), z.minimum(5), z.maximum(86_400))),
      /** Freeze the session after as many seconds without use, 1 to 259200; the next CDP message, request or viewer wakes it. A connected CDP client that sends and receives nothing, and waits for no answer, allows sleep. 0 = never. Default: the setting of the service, which is 0. Needs a server that may freeze processes. */
      sleep_after_seconds: z.optional(checked(z.int(), z.minimum(0), z.maximum(259_200))),
      /** `process` (default): a separate browser in its own box. `context`: a browser context in a browser that several sessions of the project share; files, downloads, cookies, proxy and headers are separate. It needs less memory, but has no process isolation, extensions, policies, profile, programs or sleep. */
      isolation: z.optional(z.enum(["process", "context"])),
      /** Allow exact forks: `browsers.fork` copies the running processes. Chromium then runs without its inner sandbox, in the session's own box. Needs a server that runs as root in the sandbox placement, with CRIU and a headless shell; not for sessions that need a full Chromium. Default: false. */
      forkable: z.optional(z.boolean()),
      /** The profile to start from. */
      profile: z.optional(BrowserProfile),
      /** Vaults whose items can be used in it, at most 20; they cannot be changed later. */
      vaults: z.optional(checked(z.array(VaultRef), z.maxLength(20))),
      /** Extensions to start with, at most 20. */
      extensions: z.optional(checked(z.array(BrowserExtension), z.maxLength(20))),
      /** Id or name of the proxy that its traffic leaves by; pass either this or `proxy`. */
      proxy_id: z.optional(z.string()),
      /** What its traffic leaves by: a proxy by id or by name, or none; pass either this or `proxy_id`. */
      proxy: z.optional(BrowserProxyConfig),
      /** What it may reach; the rules of the service and of the project when absent. */
      network: z.optional(BrowserNetworkConfig),
      /** Sign its requests with the project's key, so that sites can recognize it (Web Bot Auth); as the profile says when absent. */
      web_bot_auth: z.optional(WebBotAuth),
      /** Where pages see it: time zone and language, in force before the first script of every page, frame and worker. A field that is absent comes from the profile. */
      location: z.optional(BrowserLocationConfig),
      /** Permissions, position, color scheme and motion of pages, in force before their first script. A field that is absent comes from the profile. */
      conditions: z.optional(BrowserConditionsConfig),
      /** What to record from its start, in addition to telemetry. Specific to Shoal. */
      recording: z.optional(BrowserRecordingConfig),
      /** A network recording that answers its requests, instead of the network. Needs the right to stored values, because recordings contain cookies and tokens. Specific to Shoal. */
      replay: z.optional(BrowserReplayConfig),
      /** A snapshot to start from. It has the settings of its session, so only `name`, `tags`, `timeout_seconds`, `max_duration_seconds` and `region` are allowed with it. Specific to Shoal. */
      snapshot: z.optional(SnapshotRef),
      /** Region of the service to run in. Default: the region of the answering server. */
      region: z.optional(BrowserRegionName),
      /** Memory limit of the session with its browser, above which the kernel ends its largest process: `1GiB`, `2GiB` or `4GiB`; with a window (`headless: false`), `8GiB` or `16GiB`. For sessions in a sandbox. The service's own limit when absent. */
      memory: z.optional(z.enum(memorySizes)),
      /** Size of the visible page; 1920 × 1080 when absent. */
      viewport: z.optional(BrowserViewport),
      /** Show the page alone, without address bar and tabs. */
      kiosk_mode: z.optional(z.boolean()),
      /** A page to open at once; the session starts even if it does not load. */
      start_url: z.optional(checked(z.string(), z.maxLength(8192))),
      /** Enterprise policies, by Chrome's names for them; at most 1000, and 5 MiB as JSON. They need a sandbox and a full Chromium. */
      chrome_policy: z.optional(z.record(z.string(), z.unknown())),
      /** What telemetry is to capture: the default of the project or the service when absent. `enabled: false` captures nothing. Named categories replace the default; if all are off, they are removed from it. */
      telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
    }),
    atMostOne("proxy", "proxy_id"),
    rule(
      ({ recording, replay }) => replay === undefined || (recording?.network !== true && recording?.seed === undefined),
      { path: ["recording"], error: "network and seed are not available with replay" },
      {},
    ),
  ),
);
