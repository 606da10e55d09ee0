import type * as endpoints from "@shoal/contract";
import { ServiceError, type Handlers } from "@shoal/router";
import type { Browser } from "@shoal/schemas";
import type { Access } from "../access.ts";
import { FileTree } from "../files/file-tree.ts";
import { Watches } from "../files/watches.ts";
import { createId } from "../ids.ts";
import { holds, pageOf } from "../listing.ts";
import type { SessionRow, Store } from "../store.ts";

type BrowserEndpoints = Pick<typeof endpoints, "createBrowser" | "listBrowsers" | "getBrowser" | "updateBrowser" | "deleteBrowser">;

const defaultViewport = { width: 1920, height: 1080 };
const defaultTimeoutSeconds = 60;
/** As large as Chromium's pages are. */
const maxViewportPixels = 10_000;

function toBrowser(row: SessionRow, baseUrl: string): Browser {
  const socket = `${baseUrl.replace(/^http/, "ws")}/browsers/${row.id}`;
  const endMs = row.ended === undefined ? Date.now() : Date.parse(row.ended.at);
  return {
    session_id: row.id,
    created_at: row.createdAt,
    cdp_ws_url: `${socket}/cdp?jwt=fake`,
    webdriver_ws_url: `${socket}/webdriver?jwt=fake`,
    headless: row.headless,
    stealth: row.stealth,
    timeout_seconds: row.timeoutSeconds,
    ...(row.name !== null && { name: row.name }),
    ...(Object.keys(row.tags).length > 0 && { tags: { ...row.tags } }),
    viewport: { ...row.viewport },
    ...(row.startUrl !== undefined && { start_url: row.startUrl }),
    usage: { uptime_ms: Math.max(0, endMs - Date.parse(row.createdAt)) },
    placement: "process",
    browser_restarts: 0,
    ...(row.ended === undefined ? { expires_at: new Date(Date.now() + row.timeoutSeconds * 1000).toISOString() } : { deleted_at: row.ended.at, ended_reason: row.ended.reason }),
  };
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Browser ${idOrName} was not found among the running sessions of this project. It may have ended; list them with browsers.list, ended ones with status=all.`);
}

/**
 * The running session that an operation on its files is for.
 *
 * @throws {ServiceError} 404 when there is none, with the reason when it has ended.
 */
export function runningSession(store: Store, projectId: string, idOrName: string): SessionRow {
  const found = store.findSession(projectId, idOrName);
  if (found === undefined) throw notFound(idOrName);
  if (found.ended !== undefined) throw new ServiceError(404, "not_found", `Browser ${found.id} has ended at ${found.ended.at} (${found.ended.reason}). Create a new session with browsers.create.`);
  return found;
}

/** Ends a session: its watches end, its name is free again. */
export function endSession(row: SessionRow, reason: string): void {
  if (row.ended !== undefined) return;
  row.ended = { at: new Date().toISOString(), reason };
  row.watches.close();
}

/** Handlers of the browser sessions. Sessions are records with files: no browser starts, and nothing answers at `cdp_ws_url`. */
export function browserHandlers(store: Store): Handlers<BrowserEndpoints, Access> {
  const running = (projectId: string) => store.sessions.filter((session) => session.projectId === projectId && session.ended === undefined);

  function existing(projectId: string, idOrName: string): SessionRow {
    const found = store.findSession(projectId, idOrName);
    if (found === undefined || found.ended !== undefined) throw notFound(idOrName);
    return found;
  }

  function refuseTaken(projectId: string, name: string, but?: SessionRow): void {
    if (!running(projectId).some((session) => session !== but && session.name === name)) return;
    throw new ServiceError(409, "name_taken", `A running session of this project is named ${name} already. Choose another name, or delete that session.`);
  }

  return {
    createBrowser: ({ body, context: { baseUrl, projectId } }) => {
      const { headless = true, name = null, start_url: startUrl, stealth = false, tags = {}, viewport = defaultViewport } = body;
      for (const side of ["width", "height"] as const) {
        const problem = `body.viewport.${side}: expected at most ${maxViewportPixels}`;
        if (viewport[side] > maxViewportPixels) throw new ServiceError(400, "bad_request", problem, { details: [{ code: "invalid_input", message: problem }] });
      }
      if (name !== null) refuseTaken(projectId, name);
      const files = new FileTree();
      const row: SessionRow = {
        id: createId(),
        projectId,
        name,
        tags,
        createdAt: new Date().toISOString(),
        timeoutSeconds: body.timeout_seconds ?? defaultTimeoutSeconds,
        headless,
        stealth,
        viewport,
        startUrl,
        ended: undefined,
        files,
        watches: new Watches(files),
      };
      store.sessions.push(row);
      return toBrowser(row, baseUrl);
    },
    listBrowsers: ({ query, context: { baseUrl, projectId } }) => {
      const { limit, offset, query: part, tags = {} } = query;
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated for callers, who may still send it
      const status = query.include_deleted ? "all" : query.status;
      const found = store.sessions
        .filter((session) => session.projectId === projectId && (status === "all" || (session.ended === undefined) === (status === "active")))
        .filter((session) => Object.entries(tags).every(([key, value]) => session.tags[key] === value))
        .filter((session) => part === undefined || holds(session.name, part) || holds(session.id, part))
        .reverse();
      return pageOf(found, { limit, offset }, (row) => toBrowser(row, baseUrl));
    },
    getBrowser: ({ params, query, context: { baseUrl, projectId } }) => {
      const found = store.findSession(projectId, params.id_or_name);
      if (found === undefined || (found.ended !== undefined && !query.include_deleted)) throw notFound(params.id_or_name);
      return toBrowser(found, baseUrl);
    },
    updateBrowser: ({ params, body, context: { baseUrl, projectId } }) => {
      const row = existing(projectId, params.id_or_name);
      if (typeof body.name === "string") refuseTaken(projectId, body.name, row);
      if (body.name !== undefined) row.name = body.name;
      if (body.tags) row.tags = body.tags;
      if (body.viewport !== undefined) {
        const { height, refresh_rate, width } = body.viewport;
        row.viewport = { width, height, ...(refresh_rate !== undefined && { refresh_rate }) };
      }
      return toBrowser(row, baseUrl);
    },
    deleteBrowser: ({ params, context }) => {
      endSession(existing(context.projectId, params.id_or_name), "deleted");
    },
  };
}
