import type { TransportHooks, TransportOptions } from "./options.ts";
import type { Settings } from "./plan.ts";
import { parseBaseUrl } from "./url.ts";

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

/** @throws {TypeError} when `baseUrl` or `apiKey` cannot be what they should be. */
export function settingsOf(options: TransportOptions): Settings {
  const { apiKey, hooks, headers = {} } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey is empty or holds characters that no key has: a line break or a space, perhaps.");
  const secrets = Object.entries(headers).flatMap(([name, value]) => (secretName.test(name) ? [{ text: value, shown: `[${name.toLowerCase()}]` }] : []));
  if (apiKey !== undefined) secrets.unshift({ text: apiKey, shown: "[api key]" });
  const known = secrets.filter(({ text }) => text.length >= minSecretLength);
  return {
    ...options,
    hooks: hooks !== undefined && isSeveral(hooks) ? joined(hooks) : hooks,
    baseUrl: parseBaseUrl(options.baseUrl),
    redact: (text) => known.reduce((rest, secret) => rest.replaceAll(secret.text, secret.shown), text),
  };
}
