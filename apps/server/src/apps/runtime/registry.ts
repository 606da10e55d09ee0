import type { ProgramFolder, ProgramPlace } from "@shoal/placement";
import type { RegistryUpstream } from "../registry/registry-door.ts";
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

  /** Boxes reach these through the service, which has the secrets. */
  get upstreams(): readonly RegistryUpstream[] {
    const { pythonIndex, token, url } = this.#settings;
    const npm = token === undefined ? basicOf(url) : `Bearer ${token}`;
    const python = basicOf(pythonIndex);
    return [
      ...(npm === undefined ? [] : [{ url: this.url, authorization: npm, isPython: false }]),
      ...(python === undefined ? [] : [{ url: this.pythonIndex, authorization: python, isPython: true }]),
    ];
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
    const direct = this.upstreams.length > 0 ? "127.0.0.1" : "";
    return { NO_PROXY: direct, no_proxy: direct };
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
