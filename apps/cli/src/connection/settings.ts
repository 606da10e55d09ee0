import { readFileSync } from "node:fs";
import { join } from "node:path";
import { homeFolder } from "../core/home-folder.ts";
import { ExitError } from "../core/errors.ts";
import { type CliConfig, type Context, keyPlace, loadKey, readConfig } from "./contexts.ts";

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** `SHOAL_API_KEY`, the keychain, or a file. */
  readonly keySource: string;
  readonly context?: string;
  readonly project?: string;
}

export const defaultBaseUrl = "http://127.0.0.1:7777";

/** Treats an empty variable as unset. */
function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The service has the same rule. */
export function defaultDataDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const home = homeFolder(env);
  const named = given(env.SHOAL_DATA_DIR);
  if (named !== undefined) return named;
  if (platform === "darwin") return join(home, "Library", "Application Support", "shoal");
  if (platform === "win32") return join(given(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"), "shoal");
  return join(given(env.XDG_DATA_HOME) ?? join(home, ".local", "share"), "shoal");
}

export interface NoConnection {
  readonly problem: "key" | "address" | "context";
  readonly baseUrl: string;
  readonly message: string;
  readonly hint: string;
}

/** Returns `missing` for an unknown name, `invalid` for an invalid config file, `undefined` for no selection. */
function chosenContext(
  flags: { context?: string; baseUrl?: string },
  env: NodeJS.ProcessEnv,
):
  | { readonly name: string; readonly context: Context }
  | { readonly missing: string; readonly known: readonly string[] }
  | { readonly invalid: ExitError }
  | undefined {
  const asked = given(flags.context) ?? given(env.SHOAL_CONTEXT);
  // An explicit service or key overrides the current context, but not a named context.
  if (
    asked === undefined &&
    (given(flags.baseUrl) ?? given(env.SHOAL_BASE_URL) ?? given(env.SHOAL_API_KEY)) !== undefined
  )
    return undefined;
  let config: CliConfig;
  try {
    config = readConfig(env);
  } catch (error) {
    if (error instanceof ExitError) return { invalid: error };
    throw error;
  }
  const { current, contexts = {} } = config;
  const name = asked ?? current;
  if (name === undefined) return undefined;
  const context = contexts[name];
  return context
    ? { name, context }
    : asked === undefined
      ? undefined
      : { missing: asked, known: Object.keys(contexts) };
}

/**
 * Searches in this order: flags, a named context, `SHOAL_API_KEY`, `SHOAL_BASE_URL` and `SHOAL_PROJECT`, the current
 * context, the admin key in the data folder of `shoal serve`. A stored key is only sent to its service.
 */
export function findConnection(
  flags: { baseUrl?: string; project?: string; context?: string },
  env: NodeJS.ProcessEnv,
): Connection | NoConnection {
  const file = join(defaultDataDir(env), "admin-key.json");
  const stored = readAdminKey(file);
  const chosen = chosenContext(flags, env);
  if (chosen && "invalid" in chosen)
    return { problem: "context", baseUrl: "", message: chosen.invalid.message, hint: chosen.invalid.hint ?? "" };
  if (chosen && "missing" in chosen)
    return {
      problem: "context",
      baseUrl: "",
      message: `Context "${chosen.missing}" was not found.`,
      hint:
        chosen.known.length === 0
          ? `Create it with: shoal login --context ${chosen.missing}`
          : `Existing contexts: ${chosen.known.join(", ")}. Create one with: shoal login --context NAME`,
    };
  const named = given(flags.baseUrl) ?? chosen?.context.base_url ?? given(env.SHOAL_BASE_URL);
  const baseUrl = named ?? stored?.base_url ?? defaultBaseUrl;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    return {
      problem: "address",
      baseUrl,
      message: `The URL of the service must start with http:// or https://, not "${baseUrl}".`,
      hint: `Set ${flags.baseUrl === baseUrl ? "--base-url" : "SHOAL_BASE_URL"} to a URL like ${defaultBaseUrl}.`,
    };
  const project = given(flags.project) ?? given(env.SHOAL_PROJECT) ?? chosen?.context.project;
  const more = { ...(chosen && { context: chosen.name }), ...(project !== undefined && { project }) };
  if (chosen && sameServer(baseUrl, chosen.context.base_url)) {
    const apiKey = loadKey(chosen.name, chosen.context.key, env);
    if (apiKey !== undefined) return { baseUrl, apiKey, keySource: keyPlace(chosen.context.key, env), ...more };
    return {
      problem: "key",
      baseUrl,
      message: `The key of context "${chosen.name}" is missing from ${keyPlace(chosen.context.key, env)}.`,
      hint: `Log in again with: shoal login --context ${chosen.name}`,
    };
  }
  const apiKey = given(env.SHOAL_API_KEY);
  if (apiKey !== undefined) return { baseUrl, apiKey, keySource: "SHOAL_API_KEY", ...more };
  if (stored && sameServer(baseUrl, stored.base_url))
    return { baseUrl, apiKey: stored.api_key, keySource: file, ...more };
  return stored
    ? {
        problem: "key",
        baseUrl,
        message: `API key for ${baseUrl} is missing.`,
        hint: `Log in with "shoal login", or set SHOAL_API_KEY. The key in ${file} is only for ${stored.base_url}.`,
      }
    : {
        problem: "key",
        baseUrl,
        message: "API key is missing.",
        hint: `Log in with "shoal login", set SHOAL_API_KEY, or start a service on this machine with "shoal serve", which stores its admin key in ${file}.`,
      };
}

/** Whether neither flags, variables nor a context name a service or a key: then the one of this machine is meant. */
export function isUnconfigured(flags: { baseUrl?: string; context?: string }, env: NodeJS.ProcessEnv): boolean {
  return (
    chosenContext(flags, env) === undefined &&
    (given(flags.baseUrl) ?? given(env.SHOAL_BASE_URL) ?? given(env.SHOAL_API_KEY)) === undefined
  );
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
