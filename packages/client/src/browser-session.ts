import type { Browser } from "@shoal/schemas";
import { ApiError } from "@shoal/transport";
import type { BrowserFetchInit } from "./browser-fetch.ts";

/** A session that was just started, or leased from a pool. With `await using` it ends, or goes back to its pool, with the scope; otherwise it is plain data and lives on. */
export interface BrowserSession extends Browser, AsyncDisposable {
  /** Sends a request through the browser's network, as `browsers.fetch` does. */
  readonly fetch: (url: string | URL, init?: BrowserFetchInit) => Promise<Response>;
}

/**
 * Makes an answer a session that can be used and ended.
 *
 * @param parts - `end`: what happens at the end of the scope; that the session is not there any more is no failure.
 */
export function sessionOf(browser: Browser, parts: { readonly fetch: BrowserSession["fetch"]; readonly end: () => Promise<void> }): BrowserSession {
  const end = async (): Promise<void> => {
    try {
      await parts.end();
    } catch (error) {
      // It has ended by itself, or somebody else ended it.
      if (!ApiError.isInstance(error) || error.status !== 404) throw error;
    }
  };
  // Not enumerable: printed, copied and serialised, the session is data only.
  return Object.defineProperties(browser, { [Symbol.asyncDispose]: { value: end }, fetch: { value: parts.fetch } }) as BrowserSession;
}
