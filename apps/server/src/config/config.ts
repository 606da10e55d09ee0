import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { nearMatch } from "@shoal/router";
import { parse as parseYaml } from "yaml";
import * as z from "zod/mini";
import { StartError } from "../start-error.ts";
import {
  defaultDataDir,
  defaultMaxSessions,
  defaultRegion,
  defaultSessionDiskMb,
  environmentOf,
  flagOf,
  type SettingName,
  Settings,
  settings,
} from "./settings.ts";

type Required =
  | "host"
  | "port"
  | "trusted_proxies"
  | "trusted_proxy_headers"
  | "region"
  | "data_dir"
  | "placement"
  | "warm"
  | "session_memory_mb"
  | "session_memory_max_mb"
  | "session_disk_mb"
  | "allow_private_hosts"
  | "egress_connections_per_session"
  | "egress_connections_per_project"
  | "egress_idle_timeout_seconds"
  | "unsafe_no_isolation"
  | "proxy_check_url"
  | "chrome_store_url"
  | "max_sessions"
  | "max_sessions_per_project"
  | "max_sessions_per_organization"
  | "max_requests"
  | "max_connections"
  | "max_starting_sessions"
  | "max_event_loop_delay_ms"
  | "max_memory_mb"
  | "request_stall_seconds"
  | "websocket_timeout_seconds"
  | "rate_limit_per_key"
  | "rate_limit_per_organization"
  | "rate_limit_per_address"
  | "idle_timeout_seconds"
  | "idempotency_retention_hours"
  | "telemetry_retention_days"
  | "replay_retention_days"
  | "replay_max_running"
  | "replay_max_gib"
  | "profile_versions"
  | "profile_checkpoint_seconds"
  | "profile_max_mib"
  | "audit_retention_days"
  | "audit_export_seconds"
  | "live_view_hours"
  | "live_view_frame_ancestors"
  | "drain_seconds"
  | "shutdown_seconds"
  | "unknown_fields"
  | "metrics_host"
  | "log_level"
  | "log_format"
  | "new_admin_key"
  | "accept_audit_head";

/** Checked settings with their defaults filled in; paths are absolute. */
export type Config = { readonly [Name in Required]-?: NonNullable<Settings[Name]> } & {
  readonly [Name in Exclude<SettingName, Required>]?: NonNullable<Settings[Name]>;
};

/** Where settings come from: flags win over the environment, the environment over the file. */
export interface ConfigSources {
  /** By setting, in any of the spellings `data_dir`, `data-dir`, `dataDir`; text or already the right type. `config` names the file. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Relative paths of flags and environment start here, and `shoal.config.yaml` is looked for here. */
  readonly cwd?: string;
}

interface Given {
  readonly value: unknown;
  /** For people: `--port`, `SHOAL_PORT`, `port in /etc/shoal.yaml`. */
  readonly source: string;
  /** Folder that relative paths start from. */
  readonly base: string;
}

const names = Object.keys(settings).filter((name): name is SettingName => name in settings);
const isSetting = (name: string): name is SettingName => Object.hasOwn(settings, name);
const toName = (flag: string) =>
  flag
    .replace(/^--/, "")
    .replaceAll("-", "_")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function shown(name: SettingName, value: unknown): string {
  if (settings[name].secret) {
    if (name !== "database_url" || typeof value !== "string" || !URL.canParse(value)) return "***";
    const { protocol, host, pathname } = new URL(value);
    return host === "" ? "***" : `${protocol}//***@${host}${pathname}`;
  }
  return JSON.stringify(value);
}

function didYouMean(name: string, spell: (name: string) => string): string {
  const near = nearMatch(name, [...names, "config"]);
  return near === undefined ? "" : ` Did you mean ${spell(near)}?`;
}

function fromText(name: SettingName, value: unknown, base: string): unknown {
  const { kind } = settings[name];
  if (name === "access_log" && value === "-") return value;
  if (kind === "path") return typeof value === "string" && value !== "" ? resolve(base, value) : value;
  if (typeof value !== "string") return value;
  switch (kind) {
    case "integer":
      return /^-?\d+$/.test(value.trim()) ? Number(value) : value;
    case "boolean":
      if (/^(1|true|yes|on)$/i.test(value)) return true;
      return /^(0|false|no|off)$/i.test(value) ? false : value;
    case "list":
      return value
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
    case "text":
      return value;
  }
}

function expectation(name: SettingName, issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${{ integer: "a whole number", boolean: "true or false", list: "a list of texts", text: "a text", path: "a path" }[settings[name].kind]}`;
    case "too_small":
      return issue.origin === "string" ? issue.message : `must be at least ${String(issue.minimum)}`;
    case "too_big":
      return `must be at most ${String(issue.maximum)}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "custom":
      return issue.message;
    default:
      return "is not valid";
  }
}

function readConfigFile(path: string, named: boolean): Record<string, unknown> {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`The config file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, {
      hint: named ? "Check the path given with --config or SHOAL_CONFIG." : "Make it readable, or move it away.",
      exitCode: 2,
      cause: error,
    });
  }
  let parsed: unknown;
  try {
    // YAML 1.2 is a superset of JSON, so one parser reads both.
    parsed = parseYaml(content);
  } catch (error) {
    throw new StartError(
      `The config file ${path} is neither YAML nor JSON: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`,
      {
        hint: "Each line is `name: value`, for example `port: 8080`.",
        exitCode: 2,
        cause: error,
      },
    );
  }
  if (parsed === null || parsed === undefined) return {};
  if (typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new StartError(`The config file ${path} must hold settings by name.`, {
      hint: "Each line is `name: value`, for example `port: 8080`.",
      exitCode: 2,
    });
  }
  return { ...parsed };
}

/**
 * Reads the settings of the service: flags before environment before config file before defaults.
 *
 * @throws {StartError} naming every setting that is unknown or does not fit, with its source and value (secrets masked); exit code 2.
 */
export function loadConfig(sources: ConfigSources = {}): Config {
  const env = sources.env ?? process.env;
  const cwd = sources.cwd ?? process.cwd();
  const given = new Map<SettingName, Given>();
  const problems: string[] = [];
  const flags = new Map<string, unknown>();
  for (const [flag, value] of Object.entries(sources.flags ?? {})) {
    if (value !== undefined) flags.set(toName(flag), value);
  }

  const named = flags.get("config") ?? (env.SHOAL_CONFIG === "" ? undefined : env.SHOAL_CONFIG);
  flags.delete("config");
  const file =
    typeof named !== "string"
      ? ["shoal.config.yaml", "shoal.config.yml", "shoal.config.json"].map((name) => resolve(cwd, name)).find((path) => existsSync(path))
      : resolve(cwd, named);

  if (file !== undefined) {
    for (const [key, value] of Object.entries(readConfigFile(file, named !== undefined))) {
      if (!isSetting(key)) problems.push(`${key} in ${file} is no setting.${didYouMean(key, (name) => name)}`);
      else if (settings[key].flagOnly) problems.push(`${key} in ${file} can be given on the command line only, as ${flagOf(key)}.`);
      else if (value !== null) given.set(key, { value, source: `${key} in ${file}`, base: dirname(file) });
    }
  }
  for (const name of names) {
    const variable = environmentOf(name).find((candidate) => env[candidate] !== undefined && env[candidate] !== "");
    if (variable !== undefined) given.set(name, { value: env[variable], source: variable, base: cwd });
  }
  for (const variable of Object.keys(env)) {
    // Other programs of Shoal have variables of their own, so only what is nearly a setting counts as a mistake.
    const name = /^SHOAL_(.+)$/.exec(variable)?.[1]?.toLowerCase();
    if (name === undefined || isSetting(name) || name === "config") continue;
    const near = nearMatch(name, names);
    if (near !== undefined) problems.push(`${variable} is no setting. Did you mean SHOAL_${near.toUpperCase()}?`);
  }
  for (const [name, value] of flags) {
    if (isSetting(name)) given.set(name, { value, source: flagOf(name), base: cwd });
    else problems.push(`${flagOf(name)} is no setting.${didYouMean(name, flagOf)}`);
  }

  const raw: Partial<Record<SettingName, unknown>> = {};
  for (const [name, { value, base }] of given) raw[name] = fromText(name, value, base);
  const parsed = Settings.safeParse(raw);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const name = String(issue.path[0]);
      const origin = isSetting(name) ? given.get(name) : undefined;
      if (isSetting(name) && origin !== undefined)
        problems.push(`${origin.source} is ${shown(name, origin.value)}, but ${expectation(name, issue)}.`);
    }
  }
  if (problems.length > 0 || !parsed.success) {
    throw new StartError(`The configuration is wrong: ${problems.join(" ")}`, {
      hint: "`shoal serve --help` lists every setting. Flags win over the environment, the environment over the config file.",
      exitCode: 2,
    });
  }
  return completeConfig(parsed.data, env);
}

/** Fills in defaults. @param settings - already checked. */
export function completeConfig(given: Settings, env: NodeJS.ProcessEnv = process.env): Config {
  const defaults: Pick<Config, Required> = {
    host: "127.0.0.1",
    port: 7777,
    trusted_proxies: [],
    trusted_proxy_headers: "x-forwarded",
    data_dir: given.data_dir ?? defaultDataDir(env),
    region: defaultRegion,
    placement: "auto",
    warm: 1,
    session_memory_mb: 4096,
    session_memory_max_mb: 0,
    session_disk_mb: defaultSessionDiskMb(),
    allow_private_hosts: [],
    egress_connections_per_session: 256,
    egress_connections_per_project: 2000,
    egress_idle_timeout_seconds: 900,
    unsafe_no_isolation: false,
    proxy_check_url: "https://api.ipify.org/?format=json",
    chrome_store_url: "https://clients2.google.com/service/update2/crx",
    max_sessions: given.max_sessions ?? defaultMaxSessions(),
    max_sessions_per_project: 50,
    max_sessions_per_organization: 1000,
    max_requests: 2000,
    max_connections: 10_000,
    max_starting_sessions: 128,
    max_event_loop_delay_ms: 1000,
    max_memory_mb: 0,
    request_stall_seconds: 30,
    websocket_timeout_seconds: 120,
    rate_limit_per_key: 60_000,
    rate_limit_per_organization: 300_000,
    rate_limit_per_address: 3000,
    idle_timeout_seconds: 60,
    idempotency_retention_hours: 24,
    telemetry_retention_days: 30,
    replay_retention_days: 30,
    replay_max_running: 50,
    replay_max_gib: 50,
    profile_versions: 10,
    profile_checkpoint_seconds: 60,
    profile_max_mib: 1024,
    audit_retention_days: 365,
    audit_export_seconds: 60,
    live_view_hours: 24,
    live_view_frame_ancestors: ["*"],
    drain_seconds: 10,
    shutdown_seconds: 80,
    unknown_fields: "ignore",
    metrics_host: "127.0.0.1",
    log_level: "info",
    log_format: "auto",
    new_admin_key: false,
    accept_audit_head: false,
  };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...defaults, ...present };
}
