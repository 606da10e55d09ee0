import * as z from "zod/mini";
import { BrowserTelemetryRequest, BrowserTelemetry } from "../telemetry/captured-telemetry.ts";
import { BrowserNetworkConfig, BrowserRegion, BrowserRegionName, memorySizes } from "./browser-network.ts";
import { BrowserExtension, BrowserProfile, BrowserViewport } from "./browser.ts";
import { Id, pageFields, SlugName, slugText, Tags, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";
import { BrowserVault, VaultRef } from "../base/stored-secret.ts";
import { BrowserConditions, BrowserConditionsConfig } from "./browser-conditions.ts";
import { BrowserLocationConfig } from "./browser-location.ts";
import { WebBotAuth } from "./web-bot-auth.ts";
import { BrowserVideoConfig } from "../telemetry/network-recording.ts";
import { exactlyOne } from "../base/rules.ts";

/** The profile that a pool's browsers start from, by id or by name. */
export interface BrowserPoolProfile extends z.input<typeof BrowserPoolProfile> {}
export const BrowserPoolProfile = z.lazy(() =>
  checked(
    z.object({
      /** The profile's id; pass either this or `name`. `""` in an update detaches the profile. */
      id: z.optional(z.string()),
      /** The profile's name; pass either this or `id`. */
      name: z.optional(SlugName),
      /** Accepted without effect: browsers of a pool never write to the profile. */
      save_changes: z.optional(z.boolean()),
    }),
    exactlyOne("id", "name"),
  ),
);

/** Configuration of a pool. */
export interface BrowserPoolConfig extends z.output<typeof BrowserPoolConfig> {}
export const BrowserPoolConfig = lazyObject(() => ({
  /** Browsers in the pool, warm and leased ones together. */
  size: z.int(),
  /** Unique in the project. */
  name: z.optional(z.string()),
  /** Percent of `size` that may be started in a minute. */
  fill_rate_per_minute: z.optional(z.int()),
  /** Seconds without use after which a leased browser ends. */
  timeout_seconds: z.optional(z.int()),
  /** Whether browsers hide the signs of automation. */
  stealth: z.optional(z.boolean()),
  /** Whether browsers run without a window. */
  headless: z.optional(z.boolean()),
  /** The profile that they start from. */
  profile: z.optional(
    z.object({
      /** The profile's id. */
      id: z.optional(z.string()),
      /** The profile's name. */
      name: z.optional(z.string()),
    }),
  ),
  /** Whether warm browsers are replaced when the profile changes. */
  refresh_on_profile_update: z.optional(z.boolean()),
  /** The extensions that they start with. */
  extensions: z.optional(
    z.array(
      z.object({
        /** The extension's id. */
        id: z.optional(z.string()),
        /** The extension's name. */
        name: z.optional(z.string()),
      }),
    ),
  ),
  /** Vaults whose items can be used in them. */
  vaults: z.optional(z.array(BrowserVault)),
  /** The proxy that their traffic leaves by. */
  proxy_id: z.optional(z.string()),
  /** What they may reach; the rules of the service and of the project when absent. */
  network: z.optional(BrowserNetworkConfig),
  /** Memory that each browser may take; absent for the limit of the service. */
  memory: z.optional(openEnum(...memorySizes)),
  /** How their requests are signed; absent when the profile decides. */
  web_bot_auth: z.optional(WebBotAuth),
  /** Where pages see them: time zone and language. */
  location: z.optional(BrowserLocationConfig),
  /** Permissions, position and preferences of pages. */
  conditions: z.optional(BrowserConditions),
  /** Size of the visible page. */
  viewport: z.optional(BrowserViewport),
  /** Whether windows show the page alone. */
  kiosk_mode: z.optional(z.boolean()),
  /** Seconds without use after which a leased browser is frozen; absent for the default of the service. */
  sleep_after_seconds: z.optional(z.int()),
  /** Enterprise policies, by Chrome's names for them; a list omits policies larger than 64 KiB. */
  chrome_policy: z.optional(z.record(z.string(), z.unknown())),
  /** The page that they open at once. */
  start_url: z.optional(z.string()),
  /** What it says about a video of leased browsers; absent when `default_recording` decides. Specific to Shoal. */
  recording: z.optional(BrowserVideoConfig),
  /** What their telemetry captures. */
  telemetry: z.optional(z.nullable(BrowserTelemetry)),
}));

/** Browsers that are kept warm, to be leased one at a time. */
export interface BrowserPool extends z.output<typeof BrowserPool> {}
export const BrowserPool = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project; absent for a pool without a name. */
  name: z.optional(z.string()),
  /** Warm browsers that can be leased at once. */
  available_count: z.int(),
  /** Browsers that are leased now. */
  acquired_count: z.int(),
  /** Creation time. */
  created_at: Timestamp,
  /** Its configuration, as requested. */
  browser_pool_config: BrowserPoolConfig,
  /** The profile that was found for the configuration's; absent without one. */
  profile_id: z.optional(z.string()),
  /** The extensions that were found for the configuration's, in the order in which they load. */
  extension_ids: z.array(z.string()),
  /** Region of its browsers; `default` if the operator has not set any. */
  region: z.optional(BrowserRegion),
}));

const poolFields = () => ({
  /** Unique in the project: 1 to 255 letters, digits, dots, underscores and hyphens. */
  name: z.optional(SlugName),
  /** The profile that browsers start from; it must exist, and none of them writes to it. */
  profile: z.optional(BrowserPoolProfile),
  /** Replace warm browsers when the profile changes; needs a profile. When absent: `true` with a profile. */
  refresh_on_profile_update: z.optional(z.boolean()),
  /** Extensions that they start with, at most 20. */
  extensions: z.optional(checked(z.array(BrowserExtension), z.maxLength(20))),
  /** Vaults whose items can be used in them, at most 20. Needs the right to use vaults, and so does each lease. Specific to Shoal. */
  vaults: z.optional(checked(z.array(VaultRef), z.maxLength(20))),
  /** The proxy that their traffic leaves by, by id or name. */
  proxy_id: z.optional(z.string()),
  /** What they may reach; the rules of the service and of the project when absent. */
  network: z.optional(BrowserNetworkConfig),
  /** Memory that each browser may take: `1GiB`, `2GiB` or `4GiB`; with a window (`headless: false`), `8GiB` or `16GiB`. For sessions in a sandbox. The service's own limit when absent. */
  memory: z.optional(z.enum(memorySizes)),
  /** Sign their requests with the project's key, so that sites can recognize them (Web Bot Auth); as the profile says when absent. */
  web_bot_auth: z.optional(WebBotAuth),
  /** Where pages see them: time zone and language. A field that is absent comes from the profile. */
  location: z.optional(BrowserLocationConfig),
  /** Permissions, position, color scheme and motion of pages. A field that is absent comes from the profile. */
  conditions: z.optional(BrowserConditionsConfig),
  /** Size of the visible page; 1920 × 1080 when absent. */
  viewport: z.optional(BrowserViewport),
  /** Enterprise policies, by Chrome's names for them; at most 1000, and 5 MiB as JSON. They need a sandbox and a full Chromium. */
  chrome_policy: z.optional(z.record(z.string(), z.unknown())),
  /** A page that each opens as soon as it is warm, at most 2048 characters; it is kept even if the page does not load. */
  start_url: z.optional(checked(z.string(), z.maxLength(2048))),
  /** What telemetry is to capture; the default of the project or the service when absent. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
  /** Record a video of leased browsers, from the lease on. When absent: `default_recording` of the project or the service. A lease goes on without a recording that cannot start. Specific to Shoal. */
  recording: z.optional(BrowserVideoConfig),
  /** Freeze a leased browser after this many seconds without use, 0 to 259200, until its next use; 0 = never. The default of the service when absent. */
  sleep_after_seconds: z.optional(sleepSeconds()),
});

const sleepSeconds = () => checked(z.int(), z.minimum(0), z.maximum(259_200));

const poolSize = () => checked(z.int(), z.minimum(1), z.maximum(2_147_483_647));
const fillRate = () => checked(z.int(), z.minimum(0), z.maximum(2_147_483_647));
const leaseTimeout = () => checked(z.int(), z.minimum(10), z.maximum(259_200));

/** Input of `browserPools.create`. */
export interface CreateBrowserPool extends z.input<typeof CreateBrowserPool> {}
export const CreateBrowserPool = lazyObject(() => ({
  ...poolFields(),
  /** Browsers in the pool, warm and leased ones together, at least 1; they count towards the project's limit of sessions. */
  size: poolSize(),
  /** Percent of `size` that may be started in a minute. */
  fill_rate_per_minute: z._default(fillRate(), 25),
  /** Seconds without a CDP client, a live viewer or an operation in flight, after which a leased browser ends: 10 to 259200 (72 hours). Warm browsers have no timeout. */
  timeout_seconds: z._default(leaseTimeout(), 600),
  /** Hide the signs of automation. */
  stealth: z._default(z.boolean(), false),
  /** `false`: full Chromiums with a window, each on its own screen. Default: headless. */
  headless: z.optional(z.boolean()),
  /** Show the page alone, without address bar and tabs. */
  kiosk_mode: z._default(z.boolean(), false),
  /** Region of the service to run in; it cannot be changed later. Default: the region of the answering server. */
  region: z.optional(BrowserRegionName),
}));

/** Input of `browserPools.update`. */
export interface UpdateBrowserPool extends z.input<typeof UpdateBrowserPool> {}
export const UpdateBrowserPool = lazyObject(() => ({
  /** Browsers in the pool, warm and leased ones together, at least 1. */
  size: z.optional(poolSize()),
  /** The new name, unique in the project: letters, digits, dots, underscores and hyphens. It cannot be taken away: `""` leaves it. */
  name: z.optional(checked(z.string(), z.maxLength(255), slugText())),
  /** Percent of `size` that may be started in a minute. */
  fill_rate_per_minute: z.optional(fillRate()),
  /** Seconds without use after which a browser leased from now on ends: 10 to 259200 (72 hours). */
  timeout_seconds: z.optional(leaseTimeout()),
  /** Hide the signs of automation. */
  stealth: z.optional(z.boolean()),
  /** Run without a window. */
  headless: z.optional(z.boolean()),
  /** The profile that browsers start from; `{ "id": "" }` detaches it. */
  profile: z.optional(BrowserPoolProfile),
  /** Replace warm browsers when the profile changes; needs a profile. When absent it stays, or becomes `true` with a new profile. */
  refresh_on_profile_update: z.optional(z.boolean()),
  /** Extensions that browsers start with, at most 20; they replace the old ones. */
  extensions: z.optional(checked(z.array(BrowserExtension), z.maxLength(20))),
  /** Vaults of browsers that start from now on, at most 20; they replace the old ones. Specific to Shoal. */
  vaults: z.optional(checked(z.array(VaultRef), z.maxLength(20))),
  /** The proxy that their traffic leaves by, by id or name; `""` takes it away. */
  proxy_id: z.optional(z.string()),
  /** What they may reach; replaces all lists, and `{}` goes back to the rules of the service and of the project. Another list of `allowed_hosts` replaces warm browsers. */
  network: z.optional(BrowserNetworkConfig),
  /** Change the pool only if its network settings are these, else 409 `stale_network`: `network` of the pool's last answer, or `{}` if it had none. */
  expected_network: z.optional(BrowserNetworkConfig),
  /** Memory that browsers may take which start from now on. */
  memory: z.optional(z.enum(memorySizes)),
  /** How browsers that start from now on sign their requests; `null` goes back to the profile's choice. */
  web_bot_auth: z.optional(z.nullable(WebBotAuth)),
  /** Where pages see browsers that start from now on; `{}` goes back to the profile's choice. */
  location: z.optional(BrowserLocationConfig),
  /** Permissions, position and preferences of pages in browsers that start from now on; `{}` goes back to the profile's choice. */
  conditions: z.optional(BrowserConditionsConfig),
  /** Size of the visible page. */
  viewport: z.optional(BrowserViewport),
  /** Show the page alone, without address bar and tabs. */
  kiosk_mode: z.optional(z.boolean()),
  /** Enterprise policies, at most 1000, and 5 MiB as JSON; they replace the old ones, and `{}` takes them away. They need a sandbox and a full Chromium. */
  chrome_policy: z.optional(z.record(z.string(), z.unknown())),
  /** A page that each opens as soon as it is warm, at most 2048 characters; `""` takes it away. */
  start_url: z.optional(checked(z.string(), z.maxLength(2048))),
  /** Telemetry to capture: categories are merged into the current ones, `enabled: false` removes all, `null` and `{}` change nothing. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
  /** Whether browsers that start from now on are recorded as a video when they are leased; `{}` goes back to `default_recording`. Specific to Shoal. */
  recording: z.optional(BrowserVideoConfig),
  /** Freeze browsers that start from now on after this many seconds without use, 0 to 259200; 0 = never. They sleep only while leased. */
  sleep_after_seconds: z.optional(sleepSeconds()),
  /** Replace all warm browsers at once, so that the next lease has the new configuration; leased ones keep the old. */
  discard_all_idle: z._default(z.boolean(), false),
}));

/** Input of `browserPools.list`. */
export interface ListBrowserPools extends z.input<typeof ListBrowserPools> {}
export const ListBrowserPools = lazyObject(() => ({
  ...pageFields,
  /** Part of a name (case does not matter), or a whole id. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
  /** Only pools whose browsers run here. */
  region: z.optional(BrowserRegionName),
}));

/** Input of `browserPools.delete`. */
export interface DeleteBrowserPool extends z.input<typeof DeleteBrowserPool> {}
export const DeleteBrowserPool = lazyObject(() => ({
  /** End leased browsers too; without it a pool with leases is not deleted. */
  force: z._default(z.boolean(), false),
}));

/** Input of `browserPools.acquire`. */
export interface AcquireBrowser extends z.input<typeof AcquireBrowser> {}
export const AcquireBrowser = lazyObject(() => ({
  /** Seconds to wait for a browser when none is warm, 0 to 3600. Default: the time that the pool takes to fill. */
  acquire_timeout_seconds: z.optional(checked(z.int(), z.minimum(0), z.maximum(3600))),
  /** Unique among the project's running sessions; for this lease only. */
  name: z.optional(SlugName),
  /** Labels of the user's own, for this lease only. */
  tags: z.optional(Tags),
  /** A page to open at once, at most 2048 characters, instead of the pool's; for this lease only. */
  start_url: z.optional(checked(z.string(), z.maxLength(2048))),
  /** The profile to load into the browser, which restarts for it; for this lease only. Not for a pool with a profile. The browser does not save to it: `save_changes: true` is refused. */
  profile: z.optional(BrowserProfile),
  /** What telemetry is to capture, laid over what the pool captures; for this lease only. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
}));

/** Input of `browserPools.release`. */
export interface ReleaseBrowser extends z.input<typeof ReleaseBrowser> {}
export const ReleaseBrowser = lazyObject(() => ({
  /** The leased session. */
  session_id: Id,
  /** A clean browser takes its place at once; with `false`, when the pool's fill rate allows. The browser itself ends either way. */
  reuse: z._default(z.boolean(), true),
}));
