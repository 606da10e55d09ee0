/**
 * Returns the canonical form of a domain name or IP address with an optional port: `Bücher.Example:8443` becomes
 * `xn--bcher-kva.example:8443`. Ports 80 and 443 are omitted. Returns `undefined` for other texts, such as URLs.
 */
export function siteDomain(text: string): string | undefined {
  if (!/^[^\s/?#@\\*%]+$/.test(text)) return undefined;
  // `http` is a special scheme, so names are converted to Punycode.
  const url = URL.parse(`http://${text}`);
  if (url === null || url.hostname === "" || url.port === "0") return undefined;
  const port = url.port === "" || url.port === "443" ? "" : `:${url.port}`;
  return url.hostname.replace(/\.$/, "") + port;
}
