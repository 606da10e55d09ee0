/** The part of the undici package that is used: `import * as undici from "undici"` is one. */
export interface Undici {
  /** As the runtime's own, with undici's `dispatcher` in `init`. */
  fetch(url: string, init: object): Promise<object>;
}

/**
 * A `fetch` for one transport that goes by a way of its own: through a proxy, over a Unix socket, with a certificate. Node's own `fetch`
 * takes dispatchers of one undici version only, the one inside Node; this takes those of the undici that it is given. For a whole program
 * start Node with `NODE_USE_ENV_PROXY=1` and `HTTPS_PROXY` instead (22.21, 24.5 and newer).
 *
 * @param undici - the package, any version from 6.
 * @param dispatcher - of that package; the caller closes it.
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
    // Of another copy of the same code that Node's own comes from.
    return response as Response;
  };
}
