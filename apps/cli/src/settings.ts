import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where the service is and what opens it. */
export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Where the key was found: `SHOAL_API_KEY`, or a file. */
  readonly keySource: string;
  readonly project?: string;
}

export const defaultBaseUrl = "http://127.0.0.1:7777";

/** A variable that is set to nothing counts as not set. */
function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The folder where `shoal serve` keeps its data when it is not told another. The service uses the same rule. */
export function defaultDataDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const home = homedir();
  const named = given(env.SHOAL_DATA_DIR);
  if (named !== undefined) return named;
  if (platform === "darwin") return join(home, "Library", "Application Support", "shoal");
  if (platform === "win32") return join(given(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"), "shoal");
  return join(given(env.XDG_DATA_HOME) ?? join(home, ".local", "share"), "shoal");
}

/** Why there is no connection, for the user. */
export interface NoConnection {
  readonly problem: "key" | "address";
  readonly baseUrl: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * Finds the service and a key: the flags, then `SHOAL_API_KEY`, `SHOAL_BASE_URL` and `SHOAL_PROJECT`, then the admin key that
 * `shoal serve` left in its data folder on this machine. That key is used for the service that wrote it and for no other.
 */
export function findConnection(flags: { baseUrl?: string; project?: string }, env: NodeJS.ProcessEnv): Connection | NoConnection {
  const file = join(defaultDataDir(env), "admin-key.json");
  const stored = readAdminKey(file);
  const named = given(flags.baseUrl) ?? given(env.SHOAL_BASE_URL);
  const baseUrl = named ?? stored?.base_url ?? defaultBaseUrl;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    return {
      problem: "address",
      baseUrl,
      message: `The service's address "${baseUrl}" is no http:// or https:// address.`,
      hint: `Write it like ${defaultBaseUrl}, with ${flags.baseUrl === baseUrl ? "--base-url" : "SHOAL_BASE_URL"}.`,
    };
  const project = given(flags.project) ?? given(env.SHOAL_PROJECT);
  const apiKey = given(env.SHOAL_API_KEY) ?? (stored && sameServer(baseUrl, stored.base_url) ? stored.api_key : undefined);
  if (apiKey === undefined)
    return stored
      ? { problem: "key", baseUrl, message: `There is no API key for ${baseUrl}.`, hint: `Set SHOAL_API_KEY. The key in ${file} is for ${stored.base_url} and is sent nowhere else.` }
      : { problem: "key", baseUrl, message: "There is no API key.", hint: `Set SHOAL_API_KEY, or start a service on this machine with "shoal serve": it leaves its admin key in ${file}.` };
  return { baseUrl, apiKey, keySource: given(env.SHOAL_API_KEY) === undefined ? file : "SHOAL_API_KEY", ...(project !== undefined && { project }) };
}

function sameServer(a: string, b: string): boolean {
  const origin = (text: string) => {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.hostname === "localhost") url.hostname = "127.0.0.1";
    return url.origin;
  };
  return origin(a) !== undefined && origin(a) === origin(b);
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
