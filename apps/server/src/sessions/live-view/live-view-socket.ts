import type { LiveViewAddresses } from "./live-view-address.ts";

export interface LiveViewTarget {
  readonly sessionId: string;
  /** The key that the URL was issued to. */
  readonly keyId: string;
  /** Path in the instance. It contains the mode, so that the viewer cannot change it. */
  readonly path: string;
  readonly isControl: boolean;
  readonly isForLogin: boolean;
  /** Expiry of the URL, epoch milliseconds. */
  readonly untilMs: number;
}

/**
 * `/browser/live/{token}/socket?viewer=…&readOnly=true`; `undefined` for any other path.
 * @throws {ServiceError} 401 for an invalid token.
 */
export function liveViewTarget(url: URL, addresses: LiveViewAddresses): LiveViewTarget | undefined {
  const token = /^\/browser\/live\/([^/]{1,255})\/socket$/.exec(url.pathname)?.[1];
  if (token === undefined) return undefined;
  const { sessionId, keyId, mode, isForLogin, expiresAtMs } = addresses.open(token);
  const isControl = mode === "control" && url.searchParams.get("readOnly") !== "true";
  const viewer = (url.searchParams.get("viewer") ?? "").replaceAll(/[^\w-]/g, "").slice(0, 64);
  return {
    sessionId,
    keyId,
    isControl,
    isForLogin,
    path: `/live-view?mode=${isControl ? "control" : "view"}&viewer=${viewer}`,
    untilMs: expiresAtMs,
  };
}
