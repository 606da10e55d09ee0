import type { Browser } from "@shoal/schemas";
import { ApiError } from "@shoal/transport";
import type { BrowserFetchInit } from "./browser-fetch.ts";

/** A started or leased session. With `await using` it ends, or returns to its pool, at the end of the scope; otherwise it is plain data. */
export interface BrowserSession extends Browser, AsyncDisposable {
  /** Sends a request through the browser's network, as `browsers.fetch` does. */
  readonly fetch: (url: string | URL, init?: BrowserFetchInit) => Promise<Response>;
}

/** `end` runs at the end of the scope; a missing session is not an error. */
export function sessionOf(
  browser: Browser,
  parts: { readonly fetch: BrowserSession["fetch"]; readonly end: () => Promise<void> },
): BrowserSession {
  const end = async (): Promise<void> => {
    try {
      await parts.end();
    } catch (error) {
      // The session has already ended.
      if (!ApiError.isInstance(error) || error.status !== 404) throw error;
    }
  };
  // Not enumerable, so that a printed, copied or serialised session contains only data.
  return Object.defineProperties(browser, {
    [Symbol.asyncDispose]: { value: end },
    fetch: { value: parts.fetch },
  }) as BrowserSession;
}
