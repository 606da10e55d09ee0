/** Where the page may continue to after the sign-in. */
export interface Destination {
  readonly kind: "site" | "app";
  /** Host of a site, scheme of an app. */
  readonly name: string;
  readonly url: URL;
}

/** Schemes that run code, read files, or reach into the browser or the system instead of an app. */
const refused =
  /^(?:about|blob|chrome.*|content|data|devtools|edge|file|filesystem|ftp|intent|jar|javascript|livescript|mailto|mhtml|microsoft-.*|mocha|moz.*|ms-.*|opera|resource|search.*|shell|sms|tel|vbscript|view-source|ws|wss)$/;

/** Returns `undefined` for anything but an absolute URL of a site or an app. */
export function destinationOf(text: string | null): Destination | undefined {
  // Parsed as the browser would parse it, which removes tabs and line breaks in schemes.
  if (text === null || text.length > 2048 || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  // `https://bank.example@other.example` shows the wrong name to hasty readers.
  if (url.username !== "" || url.password !== "") return undefined;
  if (scheme === "http" || scheme === "https") return { kind: "site", name: url.host, url };
  return refused.test(scheme) ? undefined : { kind: "app", name: scheme, url };
}

/** @param facts - added to the query. */
export function addressOf({ url }: Destination, facts: Readonly<Record<string, string>>): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(facts)) target.searchParams.set(name, value);
  return target.href;
}
