import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

export interface NpmDefault {
  readonly value: string;
  /** Shown in messages. */
  readonly source: string;
}

/**
 * Returns `build_registry` and `build_registry_ca` as the operator set them for npm: variables that npm sets for its scripts, then `.npmrc` of the
 * user, then the global file. Credentials are never read: builds of every project use the result. Invalid values are ignored.
 */
export function operatorsNpm(
  env: NodeJS.ProcessEnv,
  node: string = process.execPath,
): Readonly<Record<string, NpmDefault>> {
  const places = [variablesOf(env), ...filesOf(env, node).map((path) => settingsIn(path, env))];
  const find = (name: string, read: (value: string) => string | undefined): NpmDefault | undefined => {
    for (const { settings, source } of places) {
      const value = read(settings.get(name) ?? "");
      if (value !== undefined) return { value, source: `${name} in ${source}` };
    }
    return undefined;
  };
  const registry = find("registry", addressIn);
  const authorities = find("cafile", (path) => (isAbsolute(path) && existsSync(path) ? path : undefined));
  return {
    ...(registry !== undefined && { build_registry: registry }),
    ...(authorities !== undefined && { build_registry_ca: authorities }),
  };
}

interface Place {
  readonly settings: ReadonlyMap<string, string>;
  readonly source: string;
}

const variable = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  env[`npm_config_${name}`] ?? env[`NPM_CONFIG_${name.toUpperCase()}`];

function variablesOf(env: NodeJS.ProcessEnv): Place {
  const names = ["registry", "cafile"];
  return { settings: new Map(names.map((name) => [name, variable(env, name) ?? ""])), source: "variables of npm" };
}

/** A service without a home folder has no operator at this machine. */
function filesOf(env: NodeJS.ProcessEnv, node: string): readonly string[] {
  const home = env.HOME ?? env.USERPROFILE ?? "";
  if (home === "") return [];
  const folder = dirname(node);
  const prefix = variable(env, "prefix") ?? (process.platform === "win32" ? folder : dirname(folder));
  return [
    variable(env, "userconfig") ?? join(home, ".npmrc"),
    variable(env, "globalconfig") ?? join(prefix, "etc", "npmrc"),
  ];
}

function settingsIn(path: string, env: NodeJS.ProcessEnv): Place {
  const settings = new Map<string, string>();
  for (const line of readText(path).split(/\r?\n/)) {
    const [name = "", ...rest] = line.split("=");
    const value = rest.join("=").trim().replace(/^"/, "").replace(/"$/, "");
    if (rest.length > 0) settings.set(name.trim(), expanded(value, env));
  }
  return { settings, source: path };
}

/** As npm expands values. */
const expanded = (text: string, env: NodeJS.ProcessEnv): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole);

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Without credentials. */
function addressIn(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  url.username = "";
  url.password = "";
  return url.href;
}
