const ofSession = /^\/sessions\/([^/?]+\/.*)$/s;
/** Paths that clients set themselves, where they keep only the host and the query of `cdp_ws_url`. */
const withoutSession =
  /^\/(?:cdp|webdriver|playwright(?:\/json)?|devtools\/(?:browser|page)(?:\/[\w-]{1,100})?|json(?:\/[\w/-]{0,200})?)(?:\?|$)/;

/** Of clients that append their key, with `?` or `&`: what follows the token has no effect. */
const connectPath = /^\/steel\/connect\/([\w-]+\.[\w-]+\.[\w-]+)(?:[/?&].*)?$/s;
/** Clients of Browserless end a session by an address, without a key. */
const ofBrowserless = /^\/browserless\/session\/([\w.-]{1,2000})(?:\?.*)?$/s;
const ofWebDriver = /^(?:\/wd\/hub)?\/session\/([\w.-]{1,2000})(\/[^?]*)?(?:\?(.*))?$/s;
const socketsOfWebDriver: Readonly<Record<string, string>> = { "/se/bidi": "/webdriver", "/se/cdp": "/cdp" };

/** The session id of WebDriver is the token of the session. @returns `undefined` for other paths. */
function pathOfWebDriver(url: string): string | undefined {
  const [, token, command = "", query] = ofWebDriver.exec(url) ?? [];
  const sessionId = subjectOf(token);
  if (sessionId === undefined) return undefined;
  const path = socketsOfWebDriver[command] ?? `/wd/session${command.replace(/\/$/, "")}`;
  return `/browsers/${sessionId}${path}?${query === undefined ? "" : `${query}&`}jwt=${token}`;
}

/**
 * Returns the path of the operation. `base_url` is `/sessions/ID`, and no prefix of the paths of the service: older SDKs
 * remove the key from requests below it. At the root, the token names the session; it is verified later, for this
 * session.
 */
export function pathOfSession(url: string): string {
  const inside = ofSession.exec(url)?.[1];
  if (inside !== undefined) return `/browsers/${inside}`;
  const [, connectToken] = connectPath.exec(url) ?? [];
  const connected = subjectOf(connectToken);
  if (connectToken !== undefined && connected !== undefined) return `/browsers/${connected}/cdp?jwt=${connectToken}`;
  const [, stopToken] = ofBrowserless.exec(url) ?? [];
  const stopped = subjectOf(stopToken);
  if (stopToken !== undefined && stopped !== undefined) return `/browsers/${stopped}/browserless?jwt=${stopToken}`;
  const command = pathOfWebDriver(url);
  if (command !== undefined) return command;
  if (!withoutSession.test(url)) return url;
  const sessionId = subjectOf(sessionTokenIn(url));
  return sessionId === undefined ? url : `/browsers/${sessionId}${url}`;
}

function subjectOf(token: string | undefined): string | undefined {
  // Most requests have none, and a caught error costs more than the rest of this file.
  if (token === undefined) return undefined;
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split(".", 3)[1] ?? "", "base64url").toString());
    const subject = typeof payload === "object" && payload !== null && "sub" in payload ? payload.sub : undefined;
    return typeof subject === "string" && /^[a-z0-9]{1,64}$/.test(subject) ? subject : undefined;
  } catch {
    return undefined;
  }
}

export function sessionTokenIn(url: string): string | undefined {
  const question = url.indexOf("?");
  // The last one: an address in `/json/new?http://a.example/?jwt=a` comes before the token.
  return question === -1 ? undefined : new URLSearchParams(url.slice(question)).getAll("jwt").at(-1);
}

export function withoutSessionToken(url: string): string {
  const question = url.indexOf("?");
  if (question === -1) return url;
  const parts = url.slice(question + 1).split("&");
  const token = parts.findLast((part) => /^jwt(=|$)/.test(part));
  const kept = parts.filter((part) => part !== token);
  return url.slice(0, question) + (kept.length === 0 ? "" : `?${kept.join("&")}`);
}

/** `/fs/read_file?path=%2Fa` of `/browsers/k3f9/fs/read_file?path=%2Fa`, byte for byte. */
export function pathInside(url: string): string {
  return withoutSessionToken(url.replace(/^\/browsers\/[^/?]+/, ""));
}
