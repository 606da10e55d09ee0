import type { ProgramFolder, ProgramPlace } from "@shoal/placement";
import { type RegistryUpstream, sdkPath } from "../registry/registry-door.ts";
import { layout } from "./box-layout.ts";

export interface RegistrySettings {
  /** Of npm packages. */
  readonly url: string;
  readonly token?: string | undefined;
  /** PEM file of the host with authorities that builds trust in addition. */
  readonly authorities?: string | undefined;
  /** Simple index of Python packages. */
  readonly pythonIndex: string;
  /** Further hosts that builds may reach. */
  readonly allowedHosts: readonly string[];
}

const pnpmOnly = {
  manage_package_manager_versions: "false",
  package_manager_strict: "false",
  pm_on_fail: "ignore",
} as const;

/** Where builds get packages from. */
export class Registry {
  readonly #settings: RegistrySettings;

  constructor(settings: RegistrySettings) {
    this.#settings = settings;
  }

  /** Ends with a slash. Without a secret. */
  get url(): string {
    return withoutSecret(this.#settings.url);
  }

  get pythonIndex(): string {
    return withoutSecret(this.#settings.pythonIndex);
  }

  /** Of npm packages. */
  get npm(): RegistryUpstream {
    const { token, url } = this.#settings;
    return { url: this.url, authorization: token === undefined ? basicOf(url) : `Bearer ${token}`, isPython: false };
  }

  /** Boxes reach these through the service, which has the secrets. In a box, 127.0.0.1 is the box itself. */
  get upstreams(): readonly RegistryUpstream[] {
    const { pythonIndex } = this.#settings;
    const python = { url: this.pythonIndex, authorization: basicOf(pythonIndex), isPython: true };
    return [this.npm, python].filter(
      ({ authorization, url }) => authorization !== undefined || new URL(url).hostname === "127.0.0.1",
    );
  }

  /** The address in a box of the registry that has the SDK of the service. */
  sdkUrlIn({ apiUrl }: ProgramPlace): string {
    return apiUrl + sdkPath;
  }

  /** The address of npm's registry in a box. */
  urlIn(place: ProgramPlace): string {
    return this.#inside(this.url, place);
  }

  #inside(url: string, { apiUrl }: ProgramPlace): string {
    return this.upstreams.some((upstream) => upstream.url === url) ? apiUrl + new URL(url).pathname : url;
  }

  /** A list for the egress policy. */
  get hosts(): readonly string[] {
    const { allowedHosts } = this.#settings;
    // PyPI's files are on another host.
    const files = new URL(this.pythonIndex).hostname === "pypi.org" ? ["files.pythonhosted.org:443"] : [];
    return [hostAndPort(this.url), hostAndPort(this.pythonIndex), ...files, ...allowedHosts];
  }

  get binds(): readonly ProgramFolder[] {
    const { authorities } = this.#settings;
    return authorities === undefined ? [] : [{ from: authorities, to: layout.authorities }];
  }

  /** The addresses of the service in a box need no proxy. A registry may have a local name, and is reached through it. */
  directVariables(): Readonly<Record<string, string>> {
    return { NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  }

  authorityVariables(place: ProgramPlace): Readonly<Record<string, string>> {
    if (this.#settings.authorities === undefined) return {};
    const path = place.pathOf(layout.authorities);
    return { NODE_EXTRA_CA_CERTS: path, PIP_CERT: path };
  }

  /** Variables of a package manager. */
  toolVariables(tool: "npm" | "pnpm" | "pip" | "none", place: ProgramPlace): Readonly<Record<string, string>> {
    // Not the files of the host or of the sources.
    if (tool === "pip") return { PIP_INDEX_URL: this.#inside(this.pythonIndex, place), PIP_CONFIG_FILE: "/dev/null" };
    const both: Readonly<Record<string, string>> = {
      registry: this.urlIn(place),
      "@shoal:registry": this.sdkUrlIn(place),
      // Lockfiles have the registry's own address.
      replace_registry_host: this.urlIn(place) === this.url ? "npmjs" : "always",
      git: "/nonexistent",
      ignore_scripts: "true",
      fetch_retries: "1",
      fetch_retry_mintimeout: "1000",
      fetch_timeout: "30000",
    };
    // The version is chosen outside. Older versions of pnpm read the variables of npm.
    const settings = tool === "npm" ? { ...both, update_notifier: "false" } : { ...both, ...pnpmOnly };
    const prefixes = tool === "npm" ? ["npm"] : ["npm", "pnpm"];
    return Object.fromEntries(
      prefixes.flatMap((prefix) =>
        Object.entries(settings).map(([name, value]) => [`${prefix}_config_${name}`, value] as const),
      ),
    );
  }
}

function withoutSecret(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}${pathname.endsWith("/") ? "" : "/"}`;
}

function basicOf(url: string): string | undefined {
  const { password, username } = new URL(url);
  if (username === "" && password === "") return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function hostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
