import { createGate } from "./gate.ts";
import type { TransportHooks, TransportOptions } from "./options.ts";
import type { Settings } from "./plan.ts";
import { parseBaseUrl } from "./url.ts";

/** Half of the thousand files that a process may have open where nobody raised that, less some for the program itself. */
const defaultMaxConcurrency = 400;
/** Shorter ones are parts of ordinary words. */
const minSecretLength = 8;
const secretName = /authorization|cookie|token|secret|password|credential|key$/i;

/** One set of hooks that calls all of them, one after another. */
function joined(all: readonly TransportHooks[]): TransportHooks {
  const each = (name: keyof TransportHooks) => async (info: never) => {
    for (const hooks of all) await hooks[name]?.(info);
  };
  return { onRequest: each("onRequest"), onResponse: each("onResponse"), onFailure: each("onFailure"), onRetry: each("onRetry") };
}

function isSeveral(hooks: TransportHooks | readonly TransportHooks[]): hooks is readonly TransportHooks[] {
  return Array.isArray(hooks);
}

/** @throws {TypeError} when `baseUrl`, `apiKey` or `maxConcurrency` cannot be what they should be. */
export function settingsOf(options: TransportOptions): Settings {
  const { apiKey, hooks, headers = {} } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError("apiKey is empty or holds characters that no key has: a line break or a space, perhaps.");
  const { maxConcurrency = defaultMaxConcurrency } = options;
  if (!(maxConcurrency >= 1)) throw new TypeError("maxConcurrency must be 1 or more.");
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
