import pLimit from "p-limit";
import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";

type Cookie = Protocol.Network.Cookie;
type Jar = ReadonlyMap<string, Cookie>;

export interface CookieStep {
  /** Copies changes since the last call in both directions. If a cookie changed in both, the session's wins. */
  sync(): Promise<void>;
}

/** @param helper - a browser that starts without cookies. */
export function keepCookiesInStep(session: CdpConnection, helper: CdpConnection): CookieStep {
  let last: Jar = new Map();
  const oneAtATime = pLimit(1);

  async function step(): Promise<void> {
    const [own, other] = await Promise.all([readJar(session), readJar(helper)]);
    const toHelper = changes(last, own);
    const toSession = changes(last, other).filter(({ key }) => !toHelper.some((change) => change.key === key));
    await Promise.all([apply(helper, toHelper), apply(session, toSession)]);
    const next = new Map(own);
    for (const { key, cookie } of toSession) {
      if (cookie === undefined) next.delete(key);
      else next.set(key, cookie);
    }
    last = next;
  }
  return { sync: () => oneAtATime(step) };
}

interface Change {
  readonly key: string;
  /** Absent when the cookie was deleted. */
  readonly cookie: Cookie | undefined;
  readonly before: Cookie | undefined;
}

function changes(before: Jar, now: Jar): Change[] {
  const found: Change[] = [];
  for (const [key, cookie] of now) {
    const earlier = before.get(key);
    if (earlier === undefined || !isSame(earlier, cookie)) found.push({ key, cookie, before: earlier });
  }
  for (const [key, cookie] of before) if (!now.has(key)) found.push({ key, cookie: undefined, before: cookie });
  return found;
}

function isSame(one: Cookie, other: Cookie): boolean {
  return (
    one.value === other.value &&
    Math.trunc(one.expires) === Math.trunc(other.expires) &&
    one.httpOnly === other.httpOnly &&
    one.secure === other.secure &&
    one.sameSite === other.sameSite
  );
}

async function readJar(cdp: CdpConnection): Promise<Jar> {
  const { cookies } = await cdp.send("Storage.getCookies", {});
  return new Map(cookies.map((cookie) => [keyOf(cookie), cookie]));
}

function keyOf({ name, domain, path, partitionKey }: Cookie): string {
  return JSON.stringify([name, domain, path, partitionKey ?? null]);
}

async function apply(cdp: CdpConnection, wanted: readonly Change[]): Promise<void> {
  if (wanted.length === 0) return;
  const cookies = wanted.flatMap(({ cookie, before }) => {
    const known = cookie ?? before;
    return known === undefined ? [] : [toParam(known, cookie === undefined)];
  });
  try {
    await cdp.send("Storage.setCookies", { cookies });
  } catch {
    // One invalid cookie makes the whole list fail.
    for (const cookie of cookies) await cdp.send("Storage.setCookies", { cookies: [cookie] }).catch(() => undefined);
  }
}

function toParam(cookie: Cookie, expired: boolean): Protocol.Network.CookieParam {
  const {
    name,
    value,
    domain,
    path,
    secure,
    httpOnly,
    sameSite,
    priority,
    sourceScheme,
    sourcePort,
    partitionKey,
    expires,
    session,
  } = cookie;
  return {
    ...{ name, value, domain, path, secure, httpOnly, priority, sourceScheme, sourcePort },
    ...(sameSite !== undefined && { sameSite }),
    ...(partitionKey !== undefined && { partitionKey }),
    ...(expired ? { expires: 1 } : !session && { expires }),
  };
}
