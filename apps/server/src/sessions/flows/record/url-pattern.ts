/**
 * A pattern for the addresses of a page in other runs: numbers in its path, its query and its fragment differ. `undefined`
 * for addresses that mean nothing elsewhere.
 */
export function patternOf(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  const path = url.pathname
    .split("/")
    .map((part) => (/\d/.test(part) || part.includes("*") ? "*" : part))
    .join("/");
  const rest = url.search === "" ? (url.hash === "" ? "" : "#*") : "?*";
  return `${url.origin}${path}${rest}`;
}

/** Without a user name and a password. */
export function withoutUserInfo(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.username === "" && url.password === "") return address;
  url.username = "";
  url.password = "";
  return url.href;
}
