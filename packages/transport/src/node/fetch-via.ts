/** The required part of the undici package: `import * as undici from "undici"`. */
export interface Undici {
  /** `fetch` with a `dispatcher` in `init`. */
  fetch(url: string, init: object): Promise<object>;
}

/**
 * Returns a `fetch` for one transport that uses a proxy, a Unix socket or a client certificate. Node's own `fetch` only
 * accepts
 * dispatchers of the undici version inside Node. To use a proxy for a whole program, start Node with
 * `NODE_USE_ENV_PROXY=1` and `HTTPS_PROXY` (22.21, 24.5 and newer).
 *
 * @param undici - the package, version 6 or newer.
 * @param dispatcher - a dispatcher of that package; the caller closes it.
 *
 * @example
 * createTransport({ baseUrl, apiKey, fetch: fetchVia(undici, new undici.ProxyAgent("http://proxy.example:3128")) });
 */
export function fetchVia(undici: Undici, dispatcher: object): (request: Request) => Promise<Response> {
  return async ({ url, method, headers, body, redirect, signal }) => {
    const response = await undici.fetch(url, {
      method,
      headers: [...headers],
      body,
      redirect,
      signal,
      dispatcher,
      ...(body !== null && { duplex: "half" }),
    });
    // Another copy of the code that Node's own Response comes from.
    return response as Response;
  };
}
