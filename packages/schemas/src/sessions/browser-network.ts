import * as z from "zod/mini";
import { networkChanges, networkRules } from "../base/network-rules.ts";
import { checked, lazyObject, openEnum, suggestedText, type Schema } from "../base/schema.ts";
import { exactlyOne } from "../base/rules.ts";
import { StoredSecret } from "../base/stored-secret.ts";

/** Where a session runs, by the operator's name for the place, `us-east` or `rack-7`: 1 to 63 letters, digits and hyphens. */
export const BrowserRegionName: Schema<string> = z.lazy(() =>
  checked(z.string(), z.regex(/^[A-Za-z0-9-]{1,63}$/, "1 to 63 letters, digits and hyphens")),
);

/** Region of the session's server; `default` if the operator has not set one. */
export const BrowserRegion = suggestedText("default", "us-east", "eu-west");

const allowedHosts = () => checked(z.array(z.string()), z.minLength(1), z.maxLength(100));

/** Connections to some hosts use another proxy than the session's. */
export interface BrowserProxyRoute extends z.output<typeof BrowserProxyRoute> {}
export const BrowserProxyRoute = lazyObject(() => ({
  /** Names (`example.com`) and all names below one (`*.example.com`), 1 to 50. A full name wins over `*.`, and a longer name over a shorter one. Every port matches. */
  hosts: checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.minLength(1), z.maxLength(50)),
  /** The proxy for these hosts. Where it is unavailable, requests fail: no other way is tried. Its `bypass_hosts` are reached directly. */
  proxy: z.object({
    /** The proxy's id; give either this or `name`. Answers have the id. */
    id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    /** Name of exactly one proxy of the project; give either this or `id`. */
    name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  }),
}));

const headerHosts = () =>
  checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.minLength(1), z.maxLength(50));
const valueName = () => checked(z.string(), z.minLength(1), z.maxLength(255));

/** A header with a stored value that the service adds to requests of a session's browser. The value never enters the session. */
export interface BrowserHeader extends z.output<typeof BrowserHeader> {}
export const BrowserHeader = lazyObject(() => ({
  /** Names (`api.example.com`), all names below one (`*.example.com`) and addresses, each with a port if wanted, 1 to 50; all of them sites of the credential. Requests to the sites alone get the header: by https, or by http where a site has no public name, and on the port of a site that has one. */
  hosts: headerHosts(),
  /** The header, such as `Authorization` or `X-Api-Key`: 1 to 100 characters. It replaces a header of the page with this name. Requests of pages of other sites do not get it. Headers of connections, cookies, bodies and of the browser's security are refused. */
  name: checked(z.string(), z.maxLength(100), z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "letters, digits and hyphens")),
  /** Text before the value, such as `Bearer ` with its space: at most 100 characters of ASCII. */
  prefix: z.optional(checked(z.string(), z.maxLength(100), z.regex(/^[ -~]*$/, "printable characters of ASCII"))),
  /** The value; not a one-time code. Answers have the id of the credential. */
  secret: StoredSecret,
}));

/** HTTP authentication (`Basic`) with stored values, which never enter the session. */
export interface BrowserHttpAuth extends z.output<typeof BrowserHttpAuth> {}
export const BrowserHttpAuth = lazyObject(() => ({
  /** Hosts, as for `headers`: 1 to 50, all of them sites of the credential. */
  hosts: headerHosts(),
  /** The id or the name of a credential of the project. Answers have the id. */
  credential: valueName(),
  /** The name of the value that is the user name; `username` when absent. */
  username_field: z.optional(valueName()),
  /** The name of the value that is the password; `password` when absent. */
  password_field: z.optional(valueName()),
}));

const headers = () => checked(z.array(BrowserHeader), z.maxLength(20));
const httpAuth = () => checked(z.array(BrowserHttpAuth), z.maxLength(20));

/** What a session may reach. */
export interface BrowserNetworkConfig extends z.output<typeof BrowserNetworkConfig> {}
export const BrowserNetworkConfig = lazyObject(() => ({
  /** Private hosts that the session may reach: names, addresses and ranges (`10.0.0.0/8`), at most 32 of at most 255 characters each, each with a port if wanted (`10.1.2.3:8080`). Of what the service's own list allows, the session reaches these alone; `[]` = none. */
  private_hosts: z.optional(checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.maxLength(32))),
  /** Hosts that the session may reach, and no others; `[]` = none. Names (`example.com`), all names below one (`*.example.com`), addresses and ranges (`10.0.0.0/8`), or `*`, each with a port if wanted (`example.com:443`); at most 200. Absent = all that its project allows. Private addresses stay closed. */
  allow: z.optional(networkRules()),
  /** Hosts that the session may not reach, even if `allow` contains them; written as in `allow`, at most 200. */
  deny: z.optional(networkRules()),
  /** The only hosts that anything in the session reaches, from its first request, in addition to its `private_hosts`; 1 to 100 of at most 253 characters. Names (`example.com`), all names below one (`*.example.com`, not below public suffixes), public addresses (`8.8.8.8`, `[2001:4860:4860::8888]`) and ranges (`8.8.4.0/24`), which match only hosts written as addresses. Every port matches. Needs a placement with isolation. Absent = all. */
  allowed_hosts: z.optional(allowedHosts()),
  /** Proxies for some hosts instead of the session's proxy, at most 10 routes; each pattern in one of them only. */
  proxy_routes: z.optional(checked(z.array(BrowserProxyRoute), z.maxLength(10))),
  /** Headers with stored values for requests of the browser to some hosts, added outside of the session; at most 20. Needs the right to stored values. */
  headers: z.optional(headers()),
  /** HTTP authentication with stored values for some hosts, added outside of the session; at most 20. Needs the right to stored values. */
  http_auth: z.optional(httpAuth()),
}));

/** The revision of a session's `allowed_hosts`, for conditional updates. */
export interface BrowserAllowlistState extends z.output<typeof BrowserAllowlistState> {}
export const BrowserAllowlistState = lazyObject(() => ({
  /** Changes with each change of the list: the `expected_allowlist_revision` of the next update. */
  revision: z.string(),
  /** The revision that the last conditional update expected. */
  base_revision: z.optional(z.string()),
  /** The `mutation_id` of the last conditional update. */
  mutation_id: z.optional(z.string()),
}));

/** What a session reaches. */
export interface BrowserNetwork extends z.output<typeof BrowserNetwork> {}
export const BrowserNetwork = lazyObject(() => ({
  /** Private hosts that the session reaches, as requested. */
  private_hosts: z.optional(z.array(z.string())),
  /** Hosts that the session reaches, and no others. */
  allow: z.optional(z.array(z.string())),
  /** Hosts that the session does not reach. */
  deny: z.optional(z.array(z.string())),
  /** The only hosts that anything in the session reaches, in lower case and without duplicates. */
  allowed_hosts: z.optional(z.array(z.string())),
  /** The revision of `allowed_hosts`; also after the list was removed. */
  allowlist_state: z.optional(BrowserAllowlistState),
  /** Proxies for some hosts, by id. */
  proxy_routes: z.optional(z.array(BrowserProxyRoute)),
  /** Headers with stored values, without the values. */
  headers: z.optional(z.array(BrowserHeader)),
  /** HTTP authentication with stored values, without the values. */
  http_auth: z.optional(z.array(BrowserHttpAuth)),
}));

/** Changes of what a session reaches. Open connections that the new lists refuse are closed. */
export interface UpdateBrowserNetwork extends z.input<typeof UpdateBrowserNetwork> {}
export const UpdateBrowserNetwork = lazyObject(() => ({
  ...networkChanges(),
  /** The new list, as in `browsers.create`, for a session that has one; `null` removes it for good. The `start_url` of the same request must be in the new list. Absent = unchanged. */
  allowed_hosts: z.optional(z.nullable(allowedHosts())),
  /** The new headers with stored values, in place of all present ones; `null` or `[]` removes them. The first header restarts the browser. Absent = unchanged. */
  headers: z.optional(z.nullable(headers())),
  /** The new HTTP authentication, in place of the present one; `null` or `[]` removes it. The first entry restarts the browser. Absent = unchanged. */
  http_auth: z.optional(z.nullable(httpAuth())),
  /** Change `allowed_hosts` only if its `network.allowlist_state.revision` is this one, else 409 `stale_network`; together with `mutation_id`. */
  expected_allowlist_revision: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Identifies this change of `allowed_hosts`: the same values again finish the same change. Together with `expected_allowlist_revision`. */
  mutation_id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
}));

/** Sizes of a session's memory that the wire has words for. */
export const memorySizes = ["1GiB", "2GiB", "4GiB", "6GiB", "8GiB", "16GiB"] as const;

/** Memory that a session may take: other sizes of whole GiB, and of MiB, are possible too. */
export const BrowserMemory = suggestedText("1GiB", "2GiB", "4GiB", "6GiB", "8GiB", "16GiB");

/** The network exit of a session: a proxy by id or by name, or a `mode`. */
export interface BrowserProxyConfig extends z.input<typeof BrowserProxyConfig> {}
export const BrowserProxyConfig = z.lazy(() =>
  checked(
    z.object({
      /** The proxy's id; give one of `id`, `name` and `mode`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** Name of exactly one proxy of the project; give one of `id`, `name` and `mode`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** `direct`: no proxy. `default`: as for a session that names none. */
      mode: z.optional(z.enum(["direct", "default"])),
    }),
    exactlyOne("id", "name", "mode"),
  ),
);

/** The network exit of a session. */
export interface BrowserProxy extends z.output<typeof BrowserProxy> {}
export const BrowserProxy = lazyObject(() => ({
  /** The proxy's id. */
  id: z.optional(z.string()),
  /** The proxy's name. */
  name: z.optional(z.string()),
  /** `direct` or `default`, where no proxy was chosen; `session` for a proxy of this session alone. */
  mode: z.optional(openEnum("direct", "default", "session")),
}));
