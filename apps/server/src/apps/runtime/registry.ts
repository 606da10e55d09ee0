import type { ProgramFolder, ProgramPlace } from "@shoal/placement";
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

  /** Ends with a slash. */
  get url(): string {
    return withSlash(this.#settings.url);
  }

  get pythonIndex(): string {
    return withSlash(this.#settings.pythonIndex);
  }

  get token(): string | undefined {
    return this.#settings.token;
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

  authorityVariables(place: ProgramPlace): Readonly<Record<string, string>> {
    if (this.#settings.authorities === undefined) return {};
    const path = place.pathOf(layout.authorities);
    return { NODE_EXTRA_CA_CERTS: path, PIP_CERT: path };
  }

  /** Variables of a package manager. */
  toolVariables(tool: "npm" | "pnpm" | "pip" | "none"): Readonly<Record<string, string>> {
    if (tool === "pip") return { PIP_INDEX_URL: this.pythonIndex };
    const both: Readonly<Record<string, string>> = {
      registry: this.url,
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

  /** Of `~/.npmrc`. */
  npmSettings(): string | undefined {
    if (this.token === undefined) return undefined;
    const { host, pathname } = new URL(this.url);
    return `//${host}${pathname}:_authToken=${this.token}\n`;
  }
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

function hostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
