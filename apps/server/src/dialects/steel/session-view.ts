import type { Browser } from "@shoal/schemas";
import type { Session, SessionStatus } from "./shapes.ts";

const defaultSize = { width: 1920, height: 1080 };

/** Reasons of the end, by status. */
export const endedReasons = {
  released: ["deleted", "disconnected", "timeout", "max_duration"],
  failed: ["browser_crashed", "instance_lost", "server_stopped"],
} as const satisfies Record<Exclude<SessionStatus, "live">, readonly string[]>;

function statusOf({ deleted_at: endedAt, ended_reason: reason = "" }: Browser): SessionStatus {
  if (endedAt === undefined) return "live";
  return (endedReasons.released as readonly string[]).includes(reason) ? "released" : "failed";
}

/** The id that its client chose, or its id here. */
export function idOf({ origin, session_id: id }: Browser): string {
  const chosen = origin?.dialect === "steel" ? origin.metadata?.sessionId : undefined;
  return typeof chosen === "string" ? chosen : id;
}

/** Without a query, because clients append their key. The token is a right to this session alone. */
function socketOf({ cdp_ws_url: url }: Browser, baseUrl: string): string {
  const token = URL.parse(url)?.searchParams.get("jwt") ?? "";
  return token === "" ? "" : `${baseUrl.replace(/^http/, "ws")}/steel/connect/${token}`;
}

export function toSession(browser: Browser, baseUrl: string): Session {
  const { created_at: createdAt, deleted_at: endedAt, profile, viewport } = browser;
  const viewer = browser.browser_live_view_url ?? "";
  return {
    id: idOf(browser),
    createdAt,
    status: statusOf(browser),
    duration: Math.max(0, (endedAt === undefined ? Date.now() : Date.parse(endedAt)) - Date.parse(createdAt)),
    timeout: (browser.max_duration_seconds ?? browser.timeout_seconds) * 1000,
    eventCount: 0,
    creditsUsed: 0,
    proxyBytesUsed: 0,
    proxySource: browser.proxy ? "external" : null,
    websocketUrl: endedAt === undefined ? socketOf(browser, baseUrl) : "",
    debugUrl: viewer,
    sessionViewerUrl: viewer,
    dimensions: viewport ? { width: viewport.width, height: viewport.height } : defaultSize,
    optimizeBandwidth: {},
    headless: browser.headless,
    ...(profile && { profileId: profile.id, persistProfile: browser.profile_save_changes ?? false }),
  };
}
