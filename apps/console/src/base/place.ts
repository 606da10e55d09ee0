/** Path of the console with the prefix of a proxy: `/console/`. */
export const consolePath = new URL(document.baseURI).pathname;

/** Address of the service without a trailing slash. */
export const serviceUrl = new URL("..", document.baseURI).href.replace(/\/$/, "");

/**
 * The same page of the service at the origin of the console, so that `frame-src 'self'` allows it. The service may
 * name another host in its answers than the person used.
 */
export function atThisOrigin(url: string, marker: string): string {
  const { pathname, search } = new URL(url);
  return serviceUrl + pathname.slice(Math.max(0, pathname.indexOf(marker))) + search;
}
