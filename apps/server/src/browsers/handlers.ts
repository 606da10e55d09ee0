import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Browser } from "@shoal/schemas";
import type { Access } from "../auth/access.ts";
import type { LiveViewAddresses } from "../live-view/live-view-address.ts";
import type { Secrets } from "../secrets.ts";
import { shownCategories } from "../telemetry/categories.ts";
import type { SessionView } from "./session-runner.ts";
import type { Sessions } from "./sessions.ts";

type BrowserEndpoints = Pick<typeof endpoints, "createBrowser" | "listBrowsers" | "getBrowser" | "updateBrowser" | "extendBrowser" | "deleteBrowser">;

/** What a session's addresses carry. */
export interface SessionSigner {
  readonly secrets: Pick<Secrets, "signSession">;
  readonly liveViews: Pick<LiveViewAddresses, "of">;
}

/** @param baseUrl - where the client reaches the service; the session's addresses stand below it. */
export function toBrowser({ row, expiresAt, captured }: SessionView, baseUrl: string, { secrets, liveViews }: SessionSigner): Browser {
  const token = secrets.signSession(row.id);
  const address = `${baseUrl}/browsers/${row.id}`;
  const socket = address.replace(/^http/, "ws");
  return {
    session_id: row.id,
    created_at: row.created_at,
    cdp_ws_url: `${socket}/cdp?jwt=${token}`,
    webdriver_ws_url: `${socket}/webdriver?jwt=${token}`,
    ...(row.ended_at === null && { base_url: address }),
    ...liveViews.of(row, baseUrl),
    headless: row.headless,
    stealth: row.stealth,
    timeout_seconds: row.timeout_seconds,
    ...(row.name !== null && { name: row.name }),
    ...(Object.keys(row.tags).length > 0 && { tags: row.tags }),
    ...(row.pool_id !== null && { pool: { id: row.pool_id, ...(row.pool_name !== null && { name: row.pool_name }) } }),
    ...(row.viewport !== null && { viewport: row.viewport }),
    ...(row.options.kiosk_mode === true && { kiosk_mode: true }),
    ...(row.options.chrome_policy && { chrome_policy: row.options.chrome_policy }),
    ...(row.start_url !== null && { start_url: row.start_url }),
    ...(row.proxy !== null && { proxy: row.proxy, ...(row.proxy.id !== undefined && { proxy_id: row.proxy.id }) }),
    usage: { uptime_ms: Math.max(0, (row.ended_at === null ? Date.now() : Date.parse(row.ended_at)) - Date.parse(row.created_at)) },
    ...(captured && { telemetry: shownCategories(captured) }),
    placement: row.placement,
    browser_restarts: row.browser_restarts,
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
    ...(row.max_duration_seconds !== null && { max_duration_seconds: row.max_duration_seconds }),
    ...(row.ends_at !== null && { ends_at: row.ends_at }),
    ...(row.ended_at !== null && { deleted_at: row.ended_at }),
    ...(row.ended_reason !== null && { ended_reason: row.ended_reason }),
  };
}

export function browserHandlers(sessions: Sessions, signer: SessionSigner): Handlers<BrowserEndpoints, Access> {
  const shown = (view: SessionView, access: Access) => toBrowser(view, access.baseUrl, signer);
  return {
    createBrowser: async ({ body, context, signal }) => shown(await sessions.create(context.projectId, body, signal), context),
    async listBrowsers({ query, context }) {
      const page = await sessions.list(context.projectId, query);
      return { ...page, items: page.items.map((view) => shown(view, context)) };
    },
    getBrowser: async ({ params, query, context }) => shown(await sessions.get(context.projectId, params.id_or_name, query.include_deleted), context),
    updateBrowser: async ({ params, body, context }) => shown(await sessions.update(context.projectId, params.id_or_name, body), context),
    extendBrowser: async ({ params, body, context }) => shown(await sessions.extend(context.projectId, params.id_or_name, body), context),
    deleteBrowser: ({ params, context }) => sessions.delete(context.projectId, params.id_or_name),
  };
}
