import type { LaunchWishes } from "@shoal/instance";
import type { CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { RequestedMemory } from "./session-memory.ts";
import type { SessionRow } from "./session-store.ts";

/** How a session's browser is started, as far as that has no column of its own. */
export interface SessionOptions {
  readonly kiosk_mode?: true;
  /** The memory that it asked for, in place of the usual limit. */
  readonly memory?: RequestedMemory;
  /** Enterprise policies in force. */
  readonly chrome_policy?: Readonly<Record<string, unknown>>;
  /** Private hosts that its pages may reach, of those that the service allows. */
  readonly private_hosts?: readonly string[];
  /** Ids of the extensions that it starts with. */
  readonly extensions?: readonly string[];
}

/** What a request asks for beyond a headless browser. */
export type RequestedOptions = Pick<
  z.output<typeof CreateBrowser>,
  "chrome_policy" | "extensions" | "headless" | "kiosk_mode" | "memory" | "network" | "stealth" | "viewport"
>;

/** What of a request is stored with the session. @param request.extension_ids - the extensions that were found for it. */
export function optionsOf({
  kiosk_mode,
  chrome_policy,
  extension_ids,
  memory,
  network,
}: RequestedOptions & { readonly extension_ids?: readonly string[] }): SessionOptions {
  return {
    ...(extension_ids !== undefined && extension_ids.length > 0 && { extensions: extension_ids }),
    ...(kiosk_mode === true && { kiosk_mode: true }),
    ...(memory !== undefined && { memory }),
    ...(network?.private_hosts !== undefined && { private_hosts: network.private_hosts }),
    ...(chrome_policy !== undefined && Object.keys(chrome_policy).length > 0 && { chrome_policy }),
  };
}

/** What the instance is told of it; `undefined` for the browser that every instance starts first. */
export function launchOf({ headless, stealth, options }: Pick<SessionRow, "headless" | "stealth" | "options">): LaunchWishes | undefined {
  const wishes: LaunchWishes = {
    ...((options.chrome_policy !== undefined || options.extensions !== undefined) && { full: true }),
    // The waiting one has started without them.
    ...(options.chrome_policy !== undefined && { again: true }),
    ...(!headless && { headless: false }),
    // Without a window there is nothing around the page.
    ...(!headless && options.kiosk_mode === true && { kiosk: true }),
    ...(stealth && { stealth: true }),
  };
  return Object.keys(wishes).length === 0 ? undefined : wishes;
}
