import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum, type Schema } from "../base/schema.ts";
import { checkedLater, rule } from "../base/rules.ts";

/** A place as the provider calls it, at most 255 characters. Answers of other services may hold an empty one; requests may not. */
const Place: Schema<string> = z.lazy(() => checked(z.string(), z.maxLength(255)));

/** Where a `datacenter` or `isp` proxy leaves. */
export interface CountryProxyConfig extends z.output<typeof CountryProxyConfig> {}
export const CountryProxyConfig = lazyObject(() => ({
  /** Country of the exit, ISO 3166: `DE`. `US` when absent. */
  country: z.optional(Place),
}));

const exitSystems = ["windows", "macos", "android"] as const;

/** Where a `residential` proxy leaves. */
export interface ResidentialProxyConfig extends z.output<typeof ResidentialProxyConfig> {}
export const ResidentialProxyConfig = lazyObject(() => ({
  /** Country of the exit, ISO 3166: `DE`. */
  country: z.optional(Place),
  /** City without spaces: `sanfrancisco`. Needs `country`. */
  city: z.optional(Place),
  /** State, two letters: `CA`. */
  state: z.optional(Place),
  /** ZIP code of the United States. */
  zip: z.optional(Place),
  /** Autonomous system of the exit: `AS7922`. */
  asn: z.optional(Place),
  /** @deprecated the exit's system makes no difference to the browser. */
  // oxlint-disable-next-line typescript/no-deprecated -- a declaration is not a use
  os: z.optional(openEnum(...exitSystems)),
}));

/** Where a `mobile` proxy leaves. */
export interface MobileProxyConfig extends z.output<typeof MobileProxyConfig> {}
export const MobileProxyConfig = lazyObject(() => ({
  /** Country of the exit, ISO 3166: `DE`. */
  country: z.optional(Place),
  /** City, as the provider calls it. */
  city: z.optional(Place),
  /** State of the United States. */
  state: z.optional(Place),
}));

/** The proxy server of a `custom` proxy, without its secrets. */
export interface CustomProxyConfig extends z.output<typeof CustomProxyConfig> {}
export const CustomProxyConfig = lazyObject(() => ({
  /** Host name or address of the proxy. */
  host: z.string(),
  /** Its port. */
  port: z.int(),
  /** User name at the proxy server. */
  username: z.optional(z.string()),
  /** Whether a password is stored, which cannot be read. */
  has_password: z.optional(z.boolean()),
  /** Whether certificates of private authorities are stored. Browsers trust them behind the proxy; they cannot be read. */
  has_ca_bundle: z.optional(z.boolean()),
}));

/** The proxy server of a new `custom` proxy. */
export interface CreateCustomProxyConfig extends z.input<typeof CreateCustomProxyConfig> {}
export const CreateCustomProxyConfig = lazyObject(() => ({
  /** Host name or address of the proxy, at most 253 characters. */
  host: checked(z.string(), z.minLength(1), z.maxLength(253)),
  /** Its port, 1 to 65535. */
  port: checked(z.int(), z.minimum(1), z.maximum(65_535)),
  /** The user name that is sent to it, at most 1024 characters. */
  username: z.optional(checked(z.string(), z.maxLength(1024))),
  /** The password, at most 1024 characters. It is kept encrypted and never shown. */
  password: z.optional(checked(z.string(), z.maxLength(1024))),
  /** Certificates of the authority that this proxy signs with, PEM, at most 64 KiB, for a proxy that opens TLS (mitmproxy, a company's inspection). Browsers trust it in sessions that use the proxy, and nowhere else; never shown again. Certificates of authorities only, none that has ended, and no private keys. */
  ca_bundle: z.optional(checked(z.string(), z.maxLength(65_536))),
}));

/** An exit that sessions' traffic can leave by. */
export interface Proxy extends z.output<typeof Proxy> {}
export const Proxy = lazyObject(() => ({
  /** Stable identifier. */
  id: z.optional(z.string()),
  /** For people; several may carry the same. */
  name: z.optional(z.string()),
  /** What kind of exit it is; `custom` is a proxy server of the user's own. */
  type: openEnum("datacenter", "isp", "residential", "mobile", "custom"),
  /** How the browser's traffic is brought to the proxy: by HTTP, by HTTP inside TLS, or by SOCKS5. */
  protocol: z.optional(openEnum("http", "https", "socks5")),
  /** Hosts that are reached without it. */
  bypass_hosts: z.optional(z.array(z.string())),
  /** What the last check found. */
  status: z.optional(openEnum("available", "unavailable")),
  /** When it was last checked. */
  last_checked: z.optional(Timestamp),
  /** The address that it left by at the last check. */
  ip_address: z.optional(z.string()),
  /** How long the test page took to answer through it, in milliseconds; in the answer to a check only. */
  latency_ms: z.optional(z.int()),
  /** Where it leaves, or which server it is; which of the forms follows from `type`. */
  config: z.optional(z.union([CustomProxyConfig, ResidentialProxyConfig, MobileProxyConfig, CountryProxyConfig])),
}));

const configKeys = {
  datacenter: ["country"],
  isp: ["country"],
  residential: ["country", "city", "state", "zip", "asn", "os"],
  mobile: ["country", "city", "state"],
  custom: ["host", "port", "username", "password", "ca_bundle"],
};

/** Input of `proxies.create`. */
export interface CreateProxy extends z.input<typeof CreateProxy> {}
export const CreateProxy = z.lazy(() =>
  checked(
    z.object({
      /** For people, 1 to 255 characters; need not be unique. */
      name: z.optional(DisplayName),
      /** Kind of exit: `custom` is your own proxy server; the operator provides the others. */
      type: z.enum(["datacenter", "isp", "residential", "mobile", "custom"]),
      /** Protocol between the browser and a `custom` proxy: HTTP, HTTP inside TLS (`https`), or SOCKS5. Most providers' proxies take `http`; encrypted pages stay encrypted through it. */
      protocol: z._default(z.enum(["http", "https", "socks5"]), "https"),
      /** Hosts that are reached without it, at most 100: whole host names, or `*.example.com`; no ports, paths or addresses. */
      bypass_hosts: z.optional(
        checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(253))), z.maxLength(100)),
      ),
      /** The place of the exit, or the server of a `custom` proxy, which needs it. The form depends on `type`. */
      config: z.optional(
        z.union([CreateCustomProxyConfig, ResidentialProxyConfig, MobileProxyConfig, CountryProxyConfig]),
      ),
    }),
    rule(
      ({ type, config }) => type !== "custom" || (config !== undefined && "host" in config),
      { path: ["config"], error: "a custom proxy needs host and port" },
      {
        keywords: {
          if: { properties: { type: { const: "custom" } } },
          then: { required: ["config"], properties: { config: { required: ["host", "port"] } } },
        },
      },
    ),
    ...Object.entries(configKeys).map(([type, keys]) =>
      checkedLater<object>({
        keywords: {
          if: { properties: { type: { const: type } } },
          then: {
            properties: {
              config: {
                propertyNames: { enum: keys },
                // Only fields of a custom proxy can be empty.
                ...(type !== "custom" && { additionalProperties: { not: { const: "" } } }),
                ...(type === "residential" && { if: { required: ["city"] }, then: { required: ["country"] } }),
              },
            },
          },
        },
      }),
    ),
    ({ value: { type, config }, issues }) => {
      for (const [key, value] of Object.entries(config ?? {})) {
        if (value === "" && configKeys.residential.includes(key))
          issues.push({ code: "custom", input: config, path: ["config", key], message: "must not be empty; omit it" });
        if (!configKeys[type].includes(key))
          issues.push({
            code: "custom",
            input: config,
            path: ["config", key],
            message: `is not taken by a ${type} proxy`,
          });
      }
    },
    // Answers share the shape and must accept future systems.
    z.refine(
      // oxlint-disable-next-line typescript/no-deprecated -- a deprecated field is checked too
      ({ config }) => config === undefined || !("os" in config) || exitSystems.some((system) => system === config.os),
      {
        path: ["config", "os"],
        error: `expected one of ${exitSystems.join(", ")}`,
      },
    ),
    z.refine(
      ({ type, config }) =>
        type !== "residential" || config === undefined || !("city" in config) || config.country !== undefined,
      {
        path: ["config", "city"],
        error: "needs country",
      },
    ),
  ),
);

/** Input of `proxies.update`. */
export interface UpdateProxy extends z.input<typeof UpdateProxy> {}
export const UpdateProxy = lazyObject(() => ({
  /** The new name, 1 to 255 characters; need not be unique. */
  name: DisplayName,
}));

/** Input of `proxies.check`. */
export interface CheckProxy extends z.input<typeof CheckProxy> {}
export const CheckProxy = lazyObject(() => ({
  /** What to fetch through it, http or https, on a public address; the stored `status` then stays as it is. Test pages of the operator's choice when absent. */
  url: z.optional(checked(z.string(), z.maxLength(2048))),
}));

/** Input of `proxies.list`. */
export interface ListProxies extends z.input<typeof ListProxies> {}
export const ListProxies = lazyObject(() => ({
  ...pageFields,
  /** Part of a name, a host or an address (case does not matter), or a whole id. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. Several proxies may carry it. */
  name: z.optional(z.string()),
}));
