import type { Allowlist, NetworkRuleLists } from "@shoal/contract/network";
import type { LaunchWishes } from "@shoal/instance";
import type {
  BrowserHeader,
  BrowserHttpAuth,
  BrowserOrigin,
  BrowserProxyRoute,
  CreateBrowser,
  WebBotAuth,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import { networkRulesOf } from "../../../resources/projects/network-rules.ts";
import { allowlistOf } from "./allowlist.ts";
import type { RequestedMemory } from "./session-memory.ts";

export interface SessionOptions {
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
  /** Absent = it goes on without clients. */
  readonly disconnect_timeout_seconds?: number;
  /** Absent = no limit. */
  readonly connect_timeout_seconds?: number;
  /** Absent = never. */
  readonly sleep_after_seconds?: number;
  /** Absent = a separate browser. */
  readonly isolation?: "context";
  /** A managed login types secrets in it. */
  readonly signs_in?: true;
  /** The client of another service that created it. */
  readonly origin?: BrowserOrigin;
}

export type RequestedOptions = Pick<
  z.output<typeof CreateBrowser>,
  | "chrome_policy"
  | "extensions"
  | "headless"
  | "kiosk_mode"
  | "memory"
  | "network"
  | "stealth"
  | "viewport"
  | "web_bot_auth"
> &
  Partial<
    Pick<
      z.output<typeof CreateBrowser>,
      "connect_timeout_seconds" | "disconnect_timeout_seconds" | "isolation" | "profile" | "sleep_after_seconds"
    >
  >;

export function optionsOf({
  kiosk_mode,
  chrome_policy,
  connect_timeout_seconds: connectTimeout,
  disconnect_timeout_seconds: disconnectTimeout,
  extension_ids,
  isolation,
  memory,
  network,
  sleep_after_seconds: sleep = 0,
  web_bot_auth: bot,
}: RequestedOptions & { readonly extension_ids?: readonly string[] }): SessionOptions {
  const rules = networkRulesOf(network);
  const allowlist = allowlistOf(network);
  const { headers = [], http_auth: auth = [], proxy_routes: routes = [] } = network ?? {};
  return {
    ...(extension_ids !== undefined && extension_ids.length > 0 && { extensions: extension_ids }),
    ...(isolation === "context" && { isolation }),
    ...(kiosk_mode === true && { kiosk_mode: true }),
    ...(memory !== undefined && { memory }),
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
  };
  return Object.keys(wishes).length === 0 ? undefined : wishes;
}
