import { codeOf } from "@shoal/primitives";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import { homeFolder } from "../core/home-folder.ts";

export interface Context {
  readonly base_url: string;
  /** Where the key is stored. */
  readonly key: "keychain" | "file";
  readonly project?: string;
}

/** The content of `config.json`. Unknown fields are preserved. */
export interface CliConfig {
  readonly current?: string;
  readonly contexts?: Readonly<Record<string, Context>>;
  readonly plugins?: readonly string[];
}

export function configDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const given = (text: string | undefined) => (text === "" ? undefined : text);
  const named = given(env.SHOAL_CONFIG_DIR);
  if (named !== undefined) return named;
  if (platform === "win32") return join(given(env.APPDATA) ?? join(homeFolder(env), "AppData", "Roaming"), "shoal");
  return join(
    given(env.XDG_CONFIG_HOME) ??
      (platform === "darwin" ? join(homeFolder(env), "Library", "Preferences") : join(homeFolder(env), ".config")),
    "shoal",
  );
}

/** A missing or empty file counts as `{}`. @throws {ExitError} for any other file that is not a JSON object: a write would delete its content. */
function readJson(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "ENOENT") return {};
    throw unreadable(path, code);
  }
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The rest of the message may contain a key.
    const line = /line \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw unreadable(path, `invalid JSON${line === undefined ? "" : ` in ${line}`}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw unreadable(path, "it is not a JSON object");
}

function unreadable(path: string, reason: string): ExitError {
  return new ExitError(exitCodes.usage.status, `Cannot read ${path}: ${reason}.`, "Correct the file, or move it away.");
}

/** Atomic, and readable only by this user. */
function writePrivate(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${String(process.pid)}.part`;
  try {
    writeFileSync(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    // An existing file would keep its mode.
    chmodSync(part, 0o600);
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

function isContext(value: unknown): value is Context {
  return typeof value === "object" && value !== null && "base_url" in value && typeof value.base_url === "string";
}

/** @returns nothing if the file is invalid. */
export function readValidConfig(env: NodeJS.ProcessEnv): CliConfig {
  try {
    return readConfig(env);
  } catch {
    return {};
  }
}

/** A missing file counts as empty. @throws {ExitError} if the file is unreadable or invalid. */
export function readConfig(env: NodeJS.ProcessEnv): CliConfig {
  const { current, contexts, plugins } = readJson(join(configDir(env), "config.json"));
  return {
    ...(typeof current === "string" && { current }),
    ...(typeof contexts === "object" &&
      contexts !== null && {
        contexts: Object.fromEntries(
          Object.entries(contexts).filter((entry): entry is [string, Context] => isContext(entry[1])),
        ),
      }),
    ...(Array.isArray(plugins) && { plugins: plugins.filter((name) => typeof name === "string") }),
  };
}

/** Preserves the other fields of the file. */
export function writeContexts(
  env: NodeJS.ProcessEnv,
  { current, contexts }: Pick<CliConfig, "current" | "contexts">,
): void {
  const path = join(configDir(env), "config.json");
  const { current: _current, contexts: _contexts, ...others } = readJson(path);
  writePrivate(path, { ...(current !== undefined && { current }), contexts, ...others });
}

const service = "shoal";
const keysPath = (env: NodeJS.ProcessEnv) => join(configDir(env), "keys.json");

interface KeychainEntry {
  setPassword(password: string): void;
  getPassword(): string | null;
  deletePassword(): boolean;
}

/** Returns `undefined` without a keychain or with `SHOAL_KEYCHAIN=0`. */
function keychainEntry(name: string, env: NodeJS.ProcessEnv): KeychainEntry | undefined {
  if (env.SHOAL_KEYCHAIN === "0") return undefined;
  try {
    // An optional native module, so load it only on use.
    const { Entry } = process.getBuiltinModule("node:module").createRequire(import.meta.url)("@napi-rs/keyring") as {
      Entry: new (service: string, user: string) => KeychainEntry;
    };
    return new Entry(service, name);
  } catch {
    return undefined;
  }
}

/** Uses the keychain, or a file readable only by this user. @returns the place. */
export function storeKey(name: string, apiKey: string, env: NodeJS.ProcessEnv): Context["key"] {
  try {
    const entry = keychainEntry(name, env);
    entry?.setPassword(apiKey);
    // A keychain without a desktop session may accept a key and lose it.
    if (entry?.getPassword() === apiKey) {
      removeFromFile(name, env);
      return "keychain";
    }
  } catch {
    // The module is installed but the system has no keychain.
  }
  writePrivate(keysPath(env), { ...readJson(keysPath(env)), [name]: apiKey });
  return "file";
}

export function loadKey(name: string, kept: Context["key"], env: NodeJS.ProcessEnv): string | undefined {
  if (kept === "keychain") {
    try {
      return keychainEntry(name, env)?.getPassword() ?? undefined;
    } catch {
      return undefined;
    }
  }
  try {
    const key = readJson(keysPath(env))[name];
    return typeof key === "string" ? key : undefined;
  } catch {
    // `shoal login` reports an invalid file.
    return undefined;
  }
}

export function removeKey(name: string, kept: Context["key"], env: NodeJS.ProcessEnv): void {
  if (kept === "keychain") {
    try {
      keychainEntry(name, env)?.deletePassword();
    } catch {
      // Already deleted.
    }
  }
  removeFromFile(name, env);
}

function removeFromFile(name: string, env: NodeJS.ProcessEnv): void {
  const { [name]: removed, ...others } = readJson(keysPath(env));
  if (removed !== undefined) writePrivate(keysPath(env), others);
}

export function keyPlace(kept: Context["key"], env: NodeJS.ProcessEnv): string {
  return kept === "keychain" ? "the keychain" : keysPath(env);
}
