import type { LiveViewAddresses } from "./live-view-address.ts";

/** Where a viewer's WebSocket leads. */
export interface LiveViewTarget {
  readonly sessionId: string;
  /** The API key that the address was handed out to. */
  readonly keyId: string;
  /** In the session's instance, which takes the mode from here: nothing that a viewer sends can change it. */
  readonly path: string;
  /** Whether the viewer may act in the browser, and not only watch. */
  readonly isControl: boolean;
  /** When the address expires, epoch milliseconds. */
  readonly untilMs: number;
}

/**
 * Reads `/browser/live/{token}/socket?viewer=…&readOnly=true`.
 *
 * @returns `undefined` for any other address.
 * @throws {ServiceError} 401 when the token opens nothing.
 */
export function liveViewTarget(url: URL, addresses: LiveViewAddresses): LiveViewTarget | undefined {
  const token = /^\/browser\/live\/([^/]{1,255})\/socket$/.exec(url.pathname)?.[1];
  if (token === undefined) return undefined;
  const { sessionId, keyId, mode, expiresAtMs } = addresses.open(token);
  const isControl = mode === "control" && url.searchParams.get("readOnly") !== "true";
  const viewer = (url.searchParams.get("viewer") ?? "").replaceAll(/[^\w-]/g, "").slice(0, 64);
  return { sessionId, keyId, isControl, path: `/live-view?mode=${isControl ? "control" : "view"}&viewer=${viewer}`, untilMs: expiresAtMs };
}
