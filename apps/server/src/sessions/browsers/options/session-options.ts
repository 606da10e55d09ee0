import type { Allowlist, NetworkRuleLists, RequestedLocation } from "@shoal/contract/network";

import type { LaunchWishes } from "@shoal/instance";
import type {
  BrowserConditions,
  BrowserHeader,
  BrowserHttpAuth,
  BrowserOrigin,
  BrowserProxyRoute,
  CreateBrowser,
  WebBotAuth,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import { networkRulesOf } from "../../../resources/projects/network-rules.ts";
import type { NetworkOptions } from "../../network-recordings/recording-options.ts";
import { allowlistOf } from "./allowlist.ts";
import type { RequestedMemory } from "./session-memory.ts";

export interface SessionOptions extends NetworkOptions {
  readonly kiosk_mode?: true;
  readonly memory?: RequestedMemory;
  readonly chrome_policy?: Readonly<Record<string, unknown>>;
  /** Reachable private hosts, out of the hosts that the service allows. */
  readonly private_hosts?: readonly string[];
  readonly network_rules?: NetworkRuleLists;
  /** Also after the removal of the list. */
  readonly allowlist?: Allowlist;
  /** With the ids of their proxies. */
  readonly proxy_routes?: readonly BrowserProxyRoute[];
  /** With ids of credentials, without their values. */
  readonly headers?: BrowserHeader[];
  readonly http_auth?: BrowserHttpAuth[];
  readonly extensions?: readonly string[];
  readonly web_bot_auth?: WebBotAuth;
  /** Canonical; of the session, its pool and its profile together. */
  readonly location?: RequestedLocation;
  /** Of the session, its pool and its profile together. */
  readonly conditions?: BrowserConditions;
  /** Of the proxy, for the time zone `exit`. */
  readonly exit_timezone?: string;
  /** Absent = it goes on without clients. */
  readonly disconnect_timeout_seconds?: number;
  /** Absent = no limit. */
  readonly connect_timeout_seconds?: number;
  /** Absent = never. */
  readonly sleep_after_seconds?: number;
  /** Absent = a separate browser. */
  readonly isolation?: "context";
  /** Vaults whose items may be used in it. Their names never change. */
  readonly vaults?: readonly { readonly id: string; readonly name: string }[];
  /** A managed login types secrets in it. */
  readonly signs_in?: true;
  /** An action typed a stored value in it: see `SignInBrowsers`. Changes of the other options keep it. */
  readonly typed_stored?: true;
  /** The client of another service that created it. */
  readonly origin?: BrowserOrigin;
  /** Id of the session whose state it started with. */
  readonly forked_from?: string;
  /** Id of the snapshot that it started from. */
  readonly snapshot?: string;
  /** Its processes can be copied. */
  readonly forkable?: true;
  /** Whether it is recorded as a video from its start. Absent = as its project, or else the service says. */
  readonly recording_video?: boolean;
}

export type RequestedOptions = Pick<
  z.output<typeof CreateBrowser>,
  | "chrome_policy"
  | "extensions"
  | "headless"
  | "kiosk_mode"
  | "location"
  | "memory"
  | "network"
  | "recording"
  | "stealth"
  | "viewport"
  | "web_bot_auth"
> &
  Partial<
    Pick<
      z.output<typeof CreateBrowser>,
      | "connect_timeout_seconds"
      | "disconnect_timeout_seconds"
      | "forkable"
      | "isolation"
      | "profile"
      | "replay"
      | "sleep_after_seconds"
    >
  > & { readonly conditions?: BrowserConditions | undefined };

export function optionsOf({
  kiosk_mode,
  chrome_policy,
  conditions = {},
  connect_timeout_seconds: connectTimeout,
  disconnect_timeout_seconds: disconnectTimeout,
  extension_ids,
  exit_timezone: exitTimezone,
  forkable = false,
  isolation,
  location = {},
  memory,
  network,
  recording,
  sleep_after_seconds: sleep = 0,
  web_bot_auth: bot,
}: RequestedOptions & {
  readonly extension_ids?: readonly string[];
  readonly exit_timezone?: string | undefined;
}): SessionOptions {
  const rules = networkRulesOf(network);
  const allowlist = allowlistOf(network);
  const { headers = [], http_auth: auth = [], proxy_routes: routes = [] } = network ?? {};
  return {
    ...(extension_ids !== undefined && extension_ids.length > 0 && { extensions: extension_ids }),
    ...(isolation === "context" && { isolation }),
    ...(forkable && { forkable }),
    ...(kiosk_mode === true && { kiosk_mode: true }),
    ...(recording?.video !== undefined && { recording_video: recording.video }),
    ...(memory !== undefined && { memory }),
    ...(Object.keys(location).length > 0 && { location }),
    ...(Object.keys(conditions).length > 0 && { conditions }),
    ...(exitTimezone !== undefined && { exit_timezone: exitTimezone }),
    ...(network?.private_hosts !== undefined && { private_hosts: network.private_hosts }),
    ...(rules && { network_rules: rules }),
    ...(allowlist && { allowlist }),
    ...(routes.length > 0 && { proxy_routes: routes }),
    ...(headers.length > 0 && { headers }),
    ...(auth.length > 0 && { http_auth: auth }),
    ...(connectTimeout !== undefined && { connect_timeout_seconds: connectTimeout }),
    ...(disconnectTimeout !== undefined && { disconnect_timeout_seconds: disconnectTimeout }),
    ...(sleep > 0 && { sleep_after_seconds: sleep }),
    ...(bot?.enabled === true && { web_bot_auth: bot }),
    ...(chrome_policy !== undefined && Object.keys(chrome_policy).length > 0 && { chrome_policy }),
  };
}

function locationWishes({
  exit_timezone: exitZone,
  location = {},
}: SessionOptions): Pick<LaunchWishes, "locale" | "timezone"> {
  const { locale } = location;
  const timezone = exitZone ?? location.timezone;
  return { ...(timezone !== undefined && { timezone }), ...(locale !== undefined && { locale }) };
}

/** Returns `undefined` if the instance's default browser is suitable. */
export function launchOf({
  headless,
  stealth,
  options,
}: {
  readonly headless: boolean;
  readonly stealth: boolean;
  readonly options: SessionOptions;
}): LaunchWishes | undefined {
  const wishes: LaunchWishes = {
    ...((options.chrome_policy !== undefined || options.extensions !== undefined) && { full: true }),
    // The warm browser started without them.
    ...(options.chrome_policy !== undefined && { again: true }),
    ...(!headless && { headless: false }),
    ...(!headless && options.kiosk_mode === true && { kiosk: true }),
    ...(stealth && { stealth: true }),
    ...locationWishes(options),
    ...(options.conditions && { conditions: options.conditions }),
    ...(options.clock_offset_ms !== undefined && { clock_offset_ms: options.clock_offset_ms }),
    ...(options.random_seed !== undefined && { random_seed: options.random_seed }),
  };
  return Object.keys(wishes).length === 0 ? undefined : wishes;
}
