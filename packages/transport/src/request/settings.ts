import { createGate } from "./gate.ts";
import type { TransportHooks, TransportOptions } from "../surface/options.ts";
import type { Settings } from "./plan.ts";
import { parseBaseUrl } from "./url.ts";

/** Below half of the usual limit of 1024 open files per process. */
const defaultMaxConcurrency = 400;
/** Shorter values occur in ordinary words. */
const minSecretLength = 8;
const secretName = /authorization|cookie|token|secret|password|credential|key$/i;

function joined(all: readonly TransportHooks[]): TransportHooks {
  const each = (name: keyof TransportHooks) => async (info: never) => {
    for (const hooks of all) await hooks[name]?.(info);
  };
  return {
    onRequest: each("onRequest"),
    onResponse: each("onResponse"),
    onFailure: each("onFailure"),
    onRetry: each("onRetry"),
  };
}

function isSeveral(hooks: TransportHooks | readonly TransportHooks[]): hooks is readonly TransportHooks[] {
  return Array.isArray(hooks);
}

/** @throws {TypeError} when `baseUrl`, `apiKey` or `maxConcurrency` is invalid. */
export function settingsOf(options: TransportOptions): Settings {
  const { apiKey, hooks, headers = {} } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError("apiKey is empty or contains invalid characters (often a trailing newline).");
  const { maxConcurrency = defaultMaxConcurrency } = options;
  if (!(maxConcurrency >= 1)) throw new TypeError("maxConcurrency must be at least 1.");
  const secrets = Object.entries(headers).flatMap(([name, value]) =>
    secretName.test(name) ? [{ text: value, shown: `[${name.toLowerCase()}]` }] : [],
  );
  if (apiKey !== undefined) secrets.unshift({ text: apiKey, shown: "[api key]" });
  const known = secrets.filter(({ text }) => text.length >= minSecretLength);
  return {
    ...options,
    hooks: hooks !== undefined && isSeveral(hooks) ? joined(hooks) : hooks,
    gate: createGate(maxConcurrency),
    baseUrl: parseBaseUrl(options.baseUrl),
    redact: (text) => known.reduce((rest, secret) => rest.replaceAll(secret.text, secret.shown), text),
  };
}
