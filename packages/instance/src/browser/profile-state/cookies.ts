import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { SavedCookie } from "./saved-state.ts";

/** Includes session cookies. Omits cookies of opaque partitions, which cannot be restored. */
export async function readCookies(cdp: CdpConnection): Promise<SavedCookie[]> {
  const { cookies } = await cdp.send("Storage.getCookies");
  return cookies.flatMap((cookie) => (cookie.partitionKeyOpaque === true ? [] : [toSaved(cookie)]));
}

function toSaved({
  name,
  value,
  domain,
  path,
  expires,
  httpOnly,
  secure,
  sameSite,
  priority,
  sourceScheme,
  sourcePort,
  partitionKey,
  session,
}: Protocol.Network.Cookie): SavedCookie {
  return {
    name,
    value,
    domain,
    path,
    expires: session ? -1 : expires,
    httpOnly,
    secure,
    ...(sameSite !== undefined && { sameSite }),
    priority,
    sourceScheme,
    sourcePort,
    ...(partitionKey !== undefined && { partitionKey }),
  };
}

function toParam({
  expires,
  sameSite,
  priority,
  sourceScheme,
  sourcePort,
  partitionKey,
  ...cookie
}: SavedCookie): Protocol.Network.CookieParam {
  return {
    ...cookie,
    ...(expires >= 0 && { expires }),
    ...(sameSite !== undefined && { sameSite }),
    ...(priority !== undefined && { priority }),
    ...(sourceScheme !== undefined && { sourceScheme }),
    ...(sourcePort !== undefined && { sourcePort }),
    ...(partitionKey !== undefined && { partitionKey }),
  };
}

/** Returns how many the browser rejected. */
export async function writeCookies(cdp: CdpConnection, cookies: readonly SavedCookie[]): Promise<number> {
  if (cookies.length === 0) return 0;
  try {
    await cdp.send("Storage.setCookies", { cookies: cookies.map(toParam) });
    return 0;
  } catch {
    // One invalid cookie makes the browser reject all of them, so set them one by one.
    const tries = await Promise.allSettled(
      cookies.map((cookie) => cdp.send("Storage.setCookies", { cookies: [toParam(cookie)] })),
    );
    return tries.filter(({ status }) => status === "rejected").length;
  }
}

export async function replaceCookies(cdp: CdpConnection, cookies: readonly SavedCookie[]): Promise<number> {
  await cdp.send("Storage.clearCookies");
  return writeCookies(cdp, cookies);
}
