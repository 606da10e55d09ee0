import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where the service is and what opens it. */
export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly project?: string;
}

export const defaultBaseUrl = "http://127.0.0.1:7777";

/** The folder where `shoal serve` keeps its data when it is not told another. The service uses the same rule. */
export function defaultDataDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (env.SHOAL_DATA_DIR) return env.SHOAL_DATA_DIR;
  const home = homedir();
  if (platform === "darwin") return join(home, "Library", "Application Support", "shoal");
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "shoal");
  return join(env.XDG_DATA_HOME ?? join(home, ".local", "share"), "shoal");
}

/**
 * Finds the service and a key: the flags, then `SHOAL_API_KEY`, `SHOAL_BASE_URL` and `SHOAL_PROJECT`, then the admin key that
 * `shoal serve` left in its data folder on this machine.
 *
 * @returns the connection, or what to tell the user when no key was found.
 */
export function findConnection(flags: { baseUrl?: string; project?: string }, env: NodeJS.ProcessEnv): Connection | { missing: string } {
  const file = join(defaultDataDir(env), "admin-key.json");
  const stored = readAdminKey(file);
  const baseUrl = flags.baseUrl ?? env.SHOAL_BASE_URL ?? stored?.base_url ?? defaultBaseUrl;
  const project = flags.project ?? env.SHOAL_PROJECT;
  // The stored key belongs to the server that wrote it: it is not sent to any other.
  const apiKey = env.SHOAL_API_KEY ?? (stored && sameServer(baseUrl, stored.base_url) ? stored.api_key : undefined);
  if (!apiKey)
    return {
      missing: stored
        ? `No API key for ${baseUrl}. Set SHOAL_API_KEY; the key in ${file} is for ${stored.base_url} and is not sent elsewhere.`
        : `No API key. Set SHOAL_API_KEY, or start a service on this machine with "shoal serve": it leaves its admin key in ${file}.`,
    };
  return { baseUrl, apiKey, ...(project && { project }) };
}

function sameServer(a: string, b: string): boolean {
  const origin = (text: string) => (URL.canParse(text) ? new URL(text).origin.replace("//localhost", "//127.0.0.1") : text);
  return origin(a) === origin(b);
}

function readAdminKey(file: string): { base_url: string; api_key: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("base_url" in value) || !("api_key" in value)) return undefined;
  const { base_url, api_key } = value;
  return typeof base_url === "string" && typeof api_key === "string" ? { base_url, api_key } : undefined;
}
