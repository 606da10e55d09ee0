import * as z from "zod/mini";
import { networkRules } from "../base/network-rules.ts";
import { checked, lazyObject, openEnum, suggestedText, type Schema } from "../base/schema.ts";
import { exactlyOne } from "../base/rules.ts";

/** Where a session runs, by the operator's name for the place, `us-east` or `rack-7`: 1 to 63 letters, digits and hyphens. */
export const BrowserRegionName: Schema<string> = z.lazy(() =>
  checked(z.string(), z.regex(/^[A-Za-z0-9-]{1,63}$/, "1 to 63 letters, digits and hyphens")),
);

/** Region of the session's server; `default` if the operator has not set one. */
export const BrowserRegion = suggestedText("default", "us-east", "eu-west");

/** What a session may reach. */
export interface BrowserNetworkConfig extends z.output<typeof BrowserNetworkConfig> {}
export const BrowserNetworkConfig = lazyObject(() => ({
  /** Private hosts that the session may reach: names, addresses and ranges (`10.0.0.0/8`), at most 32 of at most 255 characters each, each with a port if wanted (`10.1.2.3:8080`). Of what the service's own list allows, the session reaches these alone; `[]` = none. */
  private_hosts: z.optional(checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.maxLength(32))),
  /** Hosts that the session may reach, and no others; `[]` = none. Names (`example.com`), all names below one (`*.example.com`), addresses and ranges (`10.0.0.0/8`), or `*`, each with a port if wanted (`example.com:443`); at most 200. Absent = all that its project allows. Private addresses stay closed. */
  allow: z.optional(networkRules()),
  /** Hosts that the session may not reach, even if `allow` contains them; written as in `allow`, at most 200. */
  deny: z.optional(networkRules()),
}));

/** Sizes of a session's memory that the wire has words for. */
export const memorySizes = ["1GiB", "2GiB", "4GiB", "6GiB", "8GiB", "16GiB"] as const;

/** Memory that a session may take: other sizes of whole GiB, and of MiB, are possible too. */
export const BrowserMemory = suggestedText("1GiB", "2GiB", "4GiB", "6GiB", "8GiB", "16GiB");

/** What a session's traffic is to leave by: a proxy by id or by name, or a way of doing without. */
export interface BrowserProxyConfig extends z.input<typeof BrowserProxyConfig> {}
export const BrowserProxyConfig = z.lazy(() =>
  checked(
    z.object({
      /** The proxy's id; give one of `id`, `name` and `mode`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** Name of exactly one proxy of the project; give one of `id`, `name` and `mode`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** `direct`: no proxy. `default`: what the service does where nothing is said. */
      mode: z.optional(z.enum(["direct", "default"])),
    }),
    exactlyOne("id", "name", "mode"),
  ),
);

/** What a session's traffic leaves by. */
export interface BrowserProxy extends z.output<typeof BrowserProxy> {}
export const BrowserProxy = lazyObject(() => ({
  /** The proxy's id. */
  id: z.optional(z.string()),
  /** The proxy's name. */
  name: z.optional(z.string()),
  /** `direct` or `default`, where no proxy was chosen; `session` for a proxy of this session alone. */
  mode: z.optional(openEnum("direct", "default", "session")),
}));
