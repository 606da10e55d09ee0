import type { Browser } from "@shoal/schemas";
import type { SessionRow } from "../state/store.ts";
import { toProfile } from "./profile-answer.ts";

/** Defaults of a service without a configured region and memory limit. */
export const region = "default";
const memory = "4GiB";

export function toBrowser(row: SessionRow, baseUrl: string): Browser {
  const socket = `${baseUrl.replace(/^http/, "ws")}/browsers/${row.id}`;
  const endMs = row.ended === undefined ? Date.now() : Date.parse(row.ended.at);
  return {
    session_id: row.id,
    created_at: row.createdAt,
    cdp_ws_url: `${socket}/cdp?jwt=fake`,
    webdriver_ws_url: `${socket}/webdriver?jwt=fake`,
    ...(row.shown.isolation !== "context" && { playwright_ws_url: `${socket}/playwright?jwt=fake` }),
    memory,
    ...row.shown,
    timeout_seconds: row.timeoutSeconds,
    ...(row.name !== null && { name: row.name }),
    ...(Object.keys(row.tags).length > 0 && { tags: { ...row.tags } }),
    viewport: { ...row.viewport },
    ...(row.disconnectTimeoutSeconds !== undefined && { disconnect_timeout_seconds: row.disconnectTimeoutSeconds }),
    ...(row.sleepAfterSeconds > 0 && { sleep_after_seconds: row.sleepAfterSeconds }),
    ...((row.network ?? row.allowlist) && {
      network: {
        ...row.network,
        ...(row.allowlist?.hosts && { allowed_hosts: [...row.allowlist.hosts] }),
        ...(row.allowlist && { allowlist_state: row.allowlist.state }),
      },
    }),
    ...(row.profile && { profile: toProfile(row.profile.row), profile_save_changes: row.profile.savesChanges }),
    usage: { uptime_ms: Math.max(0, endMs - Date.parse(row.createdAt)) },
    placement: "process",
    region,
    browser_restarts: 0,
    ...(row.ended === undefined
      ? {
          expires_at: new Date(Date.now() + row.timeoutSeconds * 1000).toISOString(),
          ...(row.maxDuration && {
            max_duration_seconds: row.maxDuration.seconds,
            ends_at: new Date(row.maxDuration.endsAtMs).toISOString(),
          }),
        }
      : { deleted_at: row.ended.at, ended_reason: row.ended.reason }),
  };
}
