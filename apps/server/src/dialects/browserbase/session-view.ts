import { ServiceError } from "@shoal/router";
import type { Browser } from "@shoal/schemas";
import type { Session, SessionStatus } from "./shapes.ts";

/** Clients accept four names only; Shoal's own regions have others. */
const region = "us-west-2";
const longestSessionMs = 21_600_000;

const statuses: ReadonlyMap<string, SessionStatus> = new Map<string, SessionStatus>([
  ["deleted", "COMPLETED"],
  ["disconnected", "COMPLETED"],
  ["timeout", "TIMED_OUT"],
  ["max_duration", "TIMED_OUT"],
  ["browser_crashed", "ERROR"],
  ["instance_lost", "ERROR"],
  ["server_stopped", "ERROR"],
]);

/** Of sessions with this status. */
export function endedReasonsOf(status: SessionStatus): readonly string[] {
  return [...statuses].filter(([, each]) => each === status).map(([reason]) => reason);
}

function statusOf({ deleted_at: endedAt, ended_reason: reason = "" }: Browser): SessionStatus {
  return endedAt === undefined ? "RUNNING" : (statuses.get(reason) ?? "ERROR");
}

/** A session without the addresses of its browser. */
export function toSession(browser: Browser, projectId: string): Session {
  const { created_at: createdAt, deleted_at: endedAt, ends_at: endsAt, expires_at: idleEnd, origin } = browser;
  return {
    id: browser.session_id,
    projectId,
    status: statusOf(browser),
    createdAt,
    updatedAt: endedAt ?? createdAt,
    startedAt: createdAt,
    expiresAt: endsAt ?? idleEnd ?? endedAt ?? new Date(Date.parse(createdAt) + longestSessionMs).toISOString(),
    ...(endedAt !== undefined && { endedAt }),
    keepAlive: browser.disconnect_timeout_seconds === undefined,
    proxyBytes: 0,
    region,
    ...(browser.profile && { contextId: browser.profile.id }),
    ...(origin?.metadata && { userMetadata: origin.metadata }),
  };
}

/** A session with the addresses of its browser, while it runs. */
export function toConnectable(
  browser: Browser,
  { baseUrl, projectId }: { baseUrl: string; projectId: string },
): Session {
  const session = toSession(browser, projectId);
  const { cdp_ws_url: connectUrl, deleted_at: endedAt } = browser;
  if (endedAt !== undefined || connectUrl === "") return session;
  return {
    ...session,
    connectUrl,
    seleniumRemoteUrl: `${baseUrl}/browserbase/webdriver`,
    signingKey: new URL(connectUrl).searchParams.get("jwt") ?? "",
  };
}

/** Reads `user_metadata['a']['b']:'value'`. @throws {ServiceError} 400. */
export function metadataIn(query: string): object {
  const [, path = "", value = ""] =
    /^user_metadata((?:\['[^'\]\\]{1,255}'\]){1,16}):'([^'\\]{0,512})'$/.exec(query) ?? [];
  if (path === "" || query.includes("\0") || !query.isWellFormed())
    throw new ServiceError(400, "bad_request", "expected user_metadata['key']:'value'", { field: "query.q" });
  const keys = [...path.matchAll(/\['([^']+)'\]/g)].map(([, key = ""]) => key);
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;
}
