import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "@shoal/primitives";
import { nearMatch } from "@shoal/router";
import { parse as parseYaml } from "yaml";
import * as z from "zod/mini";
import { operatorsNpm } from "./settings/operators-npm.ts";
import { StartError } from "./start-error.ts";
import { type Config, environmentOf, flagOf, type SettingName, settingNames, Settings, settings } from "./settings.ts";

/** Sources of settings, in order of precedence. */
export interface ConfigSources {
  /** For settings that no other source names. */
  readonly defaults?: Readonly<Partial<Record<SettingName, unknown>>>;
  /**
   * Keys may be `data_dir`, `data-dir` or `dataDir`; values are text or have the setting's type. `config` names the
   * file.
   */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Base of relative paths in flags and environment, and folder of `shoal.config.yaml`. */
  readonly cwd?: string;
}

interface Given {
  readonly value: unknown;
  /** Shown in messages: `--port`, `SHOAL_PORT`, `port in /etc/shoal.yaml`. */
  readonly source: string;
  readonly base: string;
}

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
  const near = nearMatch(name, [...settingNames, "config"]);
  return near === undefined ? "" : ` Did you mean ${spell(near)}?`;
}

function fromText(name: SettingName, value: unknown, base: string): unknown {
  const { kind } = settings[name];
  if (name === "access_log" && value === "-") return value;
  if (kind === "path") return typeof value === "string" && value !== "" ? resolve(base, value) : value;
  if (typeof value !== "string") return value;
  switch (kind) {
    case "integer":
    case "auto_integer":
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
      return `must be ${{ integer: "a whole number", auto_integer: "a whole number or auto", boolean: "true or false", list: "a list of texts", text: "a text", path: "a path" }[settings[name].kind]}`;
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
    throw new StartError(`The config file ${path} cannot be read: ${messageOf(error)}.`, {
      hint: named ? "Check the path given with --config or SHOAL_CONFIG." : "Make it readable, or move it away.",
      exitCode: 2,
      cause: error,
    });
  }
  let parsed: unknown;
  try {
    parsed = parseYaml(content);
  } catch (error) {
    throw new StartError(
      `The config file ${path} is neither YAML nor JSON: ${messageOf(error).split("\n", 1)[0] ?? ""}`,
      {
        hint: "Each line is `name: value`, for example `port: 8080`.",
        exitCode: 2,
        cause: error,
      },
    );
  }
  if (parsed === null || parsed === undefined) return {};
  if (typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new StartError(`The config file ${path} contains no settings.`, {
      hint: "Each line is `name: value`, for example `port: 8080`.",
      exitCode: 2,
    });
  }
  return { ...parsed };
}

/** @throws {StartError} naming every unknown or invalid setting with its source and value (secrets masked). */
export function loadConfig(sources: ConfigSources = {}): Config {
  const env = sources.env ?? process.env;
  const cwd = sources.cwd ?? process.cwd();
  const given = new Map<SettingName, Given>();
  const problems: string[] = [];
  for (const [name, { source, value }] of Object.entries(operatorsNpm(env)))
    if (isSetting(name)) given.set(name, { value, source, base: cwd });
  for (const [name, value] of Object.entries(sources.defaults ?? {}))
    if (isSetting(name)) given.set(name, { value, source: name, base: cwd });
  const flags = new Map<string, unknown>();
  for (const [flag, value] of Object.entries(sources.flags ?? {})) {
    if (value !== undefined) flags.set(toName(flag), value);
  }

  const named = flags.get("config") ?? (env.SHOAL_CONFIG === "" ? undefined : env.SHOAL_CONFIG);
  flags.delete("config");
  const file =
    typeof named !== "string"
      ? ["shoal.config.yaml", "shoal.config.yml", "shoal.config.json"]
          .map((name) => resolve(cwd, name))
          .find((path) => existsSync(path))
      : resolve(cwd, named);

  if (file !== undefined) {
    for (const [key, value] of Object.entries(readConfigFile(file, named !== undefined))) {
      if (!isSetting(key)) problems.push(`${key} in ${file} is not a setting.${didYouMean(key, (name) => name)}`);
      else if (settings[key].flagOnly)
        problems.push(`${key} in ${file} can be given on the command line only, as ${flagOf(key)}.`);
      else if (value !== null) given.set(key, { value, source: `${key} in ${file}`, base: dirname(file) });
    }
  }
  for (const name of settingNames) {
    const variable = environmentOf(name).find((candidate) => env[candidate] !== undefined && env[candidate] !== "");
    if (variable !== undefined) given.set(name, { value: env[variable], source: variable, base: cwd });
  }
  for (const variable of Object.keys(env)) {
    // Other Shoal programs have their own variables, so only names close to a setting are reported.
    const name = /^SHOAL_(.+)$/.exec(variable)?.[1]?.toLowerCase();
    if (name === undefined || isSetting(name) || name === "config") continue;
    const near = nearMatch(name, settingNames);
    if (near !== undefined) problems.push(`${variable} is not a setting. Did you mean SHOAL_${near.toUpperCase()}?`);
  }
  for (const [name, value] of flags) {
    if (isSetting(name)) given.set(name, { value, source: flagOf(name), base: cwd });
    else problems.push(`${flagOf(name)} is not a setting.${didYouMean(name, flagOf)}`);
  }

  const raw: Partial<Record<SettingName, unknown>> = {};
  for (const [name, { value, base, source }] of given) {
    raw[name] = fromText(name, value, base);
    if (settings[name].kind === "path" && typeof value === "string" && /^~(?:[\\/]|$)/.test(value))
      problems.push(`${source} is ${shown(name, value)}, but only shells replace ~; write the whole path.`);
  }
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
    throw new StartError(`Invalid configuration: ${problems.join(" ")}`, {
      hint: "`shoal serve --help` lists every setting. Flags win over the environment, the environment over the config file.",
      exitCode: 2,
    });
  }
  return completeConfig(parsed.data, env);
}

export function completeConfig(given: Settings, env: NodeJS.ProcessEnv = process.env): Config {
  const values = settingNames.map((name) => [name, given[name] ?? settings[name].fallback?.(env)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Config;
}
