import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** One service and what opens it, by a name of the user's. */
export interface Context {
  readonly base_url: string;
  /** Where its key is. */
  readonly key: "keychain" | "file";
  readonly project?: string;
}

/** What `shoal login` and the user keep: `config.json`. Unknown fields stay as they are. */
export interface CliConfig {
  /** The context that is used when nothing names one. */
  readonly current?: string;
  readonly contexts?: Readonly<Record<string, Context>>;
  /** Modules that add commands. */
  readonly plugins?: readonly string[];
}

/** The folder of the command's own settings. */
export function configDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const given = (text: string | undefined) => (text === "" ? undefined : text);
  const named = given(env.SHOAL_CONFIG_DIR);
  if (named !== undefined) return named;
  if (platform === "win32") return join(given(env.APPDATA) ?? join(homedir(), "AppData", "Roaming"), "shoal");
  return join(
    given(env.XDG_CONFIG_HOME) ?? (platform === "darwin" ? join(homedir(), "Library", "Preferences") : join(homedir(), ".config")),
    "shoal",
  );
}

function readJson(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Writes a file that only this user may read, whole or not at all. */
function writePrivate(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${String(process.pid)}.part`;
  try {
    writeFileSync(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    // Of a file that was there, the mode would stay.
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

/** What the user keeps; a missing or damaged file counts as an empty one. */
export function readConfig(env: NodeJS.ProcessEnv): CliConfig {
  const { current, contexts, plugins } = readJson(join(configDir(env), "config.json"));
  return {
    ...(typeof current === "string" && { current }),
    ...(typeof contexts === "object" &&
      contexts !== null && {
        contexts: Object.fromEntries(Object.entries(contexts).filter((entry): entry is [string, Context] => isContext(entry[1]))),
      }),
    ...(Array.isArray(plugins) && { plugins: plugins.filter((name) => typeof name === "string") }),
  };
}

/** Writes the contexts and which of them is current; everything else in the file stays. */
export function writeContexts(env: NodeJS.ProcessEnv, { current, contexts }: Pick<CliConfig, "current" | "contexts">): void {
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

/** The system's keychain; `undefined` where there is none, or the user wants none (`SHOAL_KEYCHAIN=0`). */
function keychainEntry(name: string, env: NodeJS.ProcessEnv): KeychainEntry | undefined {
  if (env.SHOAL_KEYCHAIN === "0") return undefined;
  try {
    // Optional, and a native module: loaded only where a key lies in the keychain.
    const { Entry } = process.getBuiltinModule("node:module").createRequire(import.meta.url)("@napi-rs/keyring") as {
      Entry: new (service: string, user: string) => KeychainEntry;
    };
    return new Entry(service, name);
  } catch {
    return undefined;
  }
}

/** Keeps a key. @returns where it lies: a machine without a keychain gets a file that only this user may read. */
export function storeKey(name: string, apiKey: string, env: NodeJS.ProcessEnv): Context["key"] {
  try {
    const entry = keychainEntry(name, env);
    entry?.setPassword(apiKey);
    // One that forgets is none: that of a session without a desktop, for instance.
    if (entry?.getPassword() === apiKey) {
      removeFromFile(name, env);
      return "keychain";
    }
  } catch {
    // There is a module, and no keychain behind it.
  }
  writePrivate(keysPath(env), { ...readJson(keysPath(env)), [name]: apiKey });
  return "file";
}

/** The key of a context; `undefined` when it is gone. */
export function loadKey(name: string, kept: Context["key"], env: NodeJS.ProcessEnv): string | undefined {
  if (kept === "keychain") {
    try {
      return keychainEntry(name, env)?.getPassword() ?? undefined;
    } catch {
      return undefined;
    }
  }
  const key = readJson(keysPath(env))[name];
  return typeof key === "string" ? key : undefined;
}

/** Forgets a key, wherever it lies. */
export function removeKey(name: string, kept: Context["key"], env: NodeJS.ProcessEnv): void {
  if (kept === "keychain") {
    try {
      keychainEntry(name, env)?.deletePassword();
    } catch {
      // It is gone already.
    }
  }
  removeFromFile(name, env);
}

function removeFromFile(name: string, env: NodeJS.ProcessEnv): void {
  const { [name]: removed, ...others } = readJson(keysPath(env));
  if (removed !== undefined) writePrivate(keysPath(env), others);
}

/** Where a context's key lies, for people. */
export function keyPlace(kept: Context["key"], env: NodeJS.ProcessEnv): string {
  return kept === "keychain" ? "the keychain" : keysPath(env);
}
