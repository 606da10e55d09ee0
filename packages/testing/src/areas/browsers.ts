import type * as endpoints from "@shoal/contract";
import { badInput, ServiceError, type Handlers } from "@shoal/router";
import type { Browser, BrowserViewport, CreateBrowser, UpdateBrowser } from "@shoal/schemas";
import { maxScreenPixels, maxViewportPixels } from "@shoal/schemas/viewport-limits";
import type * as z from "zod/mini";
import type { Access } from "../access.ts";
import { FileTree } from "../files/file-tree.ts";
import { Watches } from "../files/watches.ts";
import { createId } from "../ids.ts";
import { holds, pageOf } from "../listing.ts";
import type { SessionRow, Store } from "../store.ts";
import { findProfile, profileNotFound, toProfile } from "./profiles.ts";

type BrowserEndpoints = Pick<typeof endpoints, "createBrowser" | "listBrowsers" | "getBrowser" | "updateBrowser" | "extendBrowser" | "deleteBrowser">;

const defaultViewport = { width: 1920, height: 1080 };
const defaultTimeoutSeconds = 60;
/** As a service that nobody has told where it is, with its usual limit of memory. */
const region = "default";
const memory = "4GiB";

function toBrowser(row: SessionRow, baseUrl: string): Browser {
  const socket = `${baseUrl.replace(/^http/, "ws")}/browsers/${row.id}`;
  const endMs = row.ended === undefined ? Date.now() : Date.parse(row.ended.at);
  return {
    session_id: row.id,
    created_at: row.createdAt,
    cdp_ws_url: `${socket}/cdp?jwt=fake`,
    webdriver_ws_url: `${socket}/webdriver?jwt=fake`,
    ...row.shown,
    timeout_seconds: row.timeoutSeconds,
    ...(row.name !== null && { name: row.name }),
    ...(Object.keys(row.tags).length > 0 && { tags: { ...row.tags } }),
    viewport: { ...row.viewport },
    ...(row.profile && { profile: toProfile(row.profile.row), profile_save_changes: row.profile.savesChanges }),
    usage: { uptime_ms: Math.max(0, endMs - Date.parse(row.createdAt)) },
    placement: "process",
    region,
    memory,
    browser_restarts: 0,
    ...(row.ended === undefined
      ? {
          expires_at: new Date(Date.now() + row.timeoutSeconds * 1000).toISOString(),
          ...(row.maxDuration && { max_duration_seconds: row.maxDuration.seconds, ends_at: new Date(row.maxDuration.endsAtMs).toISOString() }),
        }
      : { deleted_at: row.ended.at, ended_reason: row.ended.reason }),
  };
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Browser ${idOrName} was not found among the running sessions of this project. It may have ended; list them with browsers.list, ended ones with status=all.`,
  );
}

const endings: Readonly<Record<string, string>> = {
  deleted: "it was deleted",
  timeout: "nobody used it for its timeout_seconds",
  max_duration: "its max_duration_seconds were over",
  browser_crashed: "its browser crashed twice",
  instance_lost: "its instance was lost",
  server_stopped: "the server was stopped",
};

/**
 * The running session that an operation on its files is for.
 *
 * @throws {ServiceError} 404 when there is none, with the reason when it has ended.
 */
export function runningSession(store: Store, projectId: string, idOrName: string): SessionRow {
  const found = store.findSession(projectId, idOrName);
  if (found === undefined) throw notFound(idOrName);
  if (found.ended !== undefined) {
    const { at, reason } = found.ended;
    throw new ServiceError(
      404,
      "not_found",
      `Browser ${found.id} has ended at ${at} (${reason}): ${endings[reason] ?? reason}. Create a new session with browsers.create.`,
    );
  }
  return found;
}

/** Ends a session: its watches end, its name is free again. */
export function endSession(row: SessionRow, reason: string): void {
  if (row.ended !== undefined) return;
  row.ended = { at: new Date().toISOString(), reason };
  row.watches.close();
}

/** Refuses what the fake would have to look up in areas that it does not keep. */
function refuseUnkept(
  body: Pick<z.output<typeof CreateBrowser>, "extensions" | "invocation_id" | "memory" | "network"> &
    Pick<z.output<typeof UpdateBrowser>, "proxy" | "proxy_id" | "telemetry">,
): void {
  const fields = [
    body.extensions !== undefined && body.extensions.length > 0 && "extensions",
    Boolean(body.invocation_id) && "invocation_id",
    body.memory !== undefined && "memory",
    body.network?.private_hosts !== undefined && "network",
    Boolean(body.proxy_id) && "proxy_id",
    body.proxy !== undefined && body.proxy.mode === undefined && "proxy",
    body.telemetry !== undefined && body.telemetry !== null && body.telemetry.enabled !== false && "telemetry",
  ].filter((field) => field !== false);
  if (fields.length === 0) return;
  throw new ServiceError(
    501,
    "not_implemented",
    `The fake of @shoal/testing keeps nothing for ${fields.map((field) => `body.${field}`).join(", ")}. Leave it away, or run this test against a real service.`,
    {
      details: fields.map((field) => ({ code: "not_implemented", message: `body.${field}: not in the fake` })),
    },
  );
}

/** What a size and an address must be beyond the contract. @param isScreen - of a browser with a window. */
function refuseImpossible({ start_url, viewport }: Pick<z.output<typeof CreateBrowser>, "start_url" | "viewport">, isScreen = false): void {
  for (const side of ["width", "height"] as const)
    if (viewport !== undefined && viewport[side] > maxViewportPixels) throw badInput(`body.viewport.${side}: expected at most ${maxViewportPixels}`);
  if (start_url?.includes("\0") === true) throw badInput("body.start_url: must not hold a NUL character");
  for (const side of ["width", "height"] as const)
    if (isScreen && viewport !== undefined && viewport[side] > maxScreenPixels)
      throw badInput(`body.viewport.${side}: expected at most ${maxScreenPixels} where the browser has a window`);
}

function sizeOf({ height, refresh_rate, width }: z.output<typeof BrowserViewport>): SessionRow["viewport"] {
  return { width, height, ...(refresh_rate !== undefined && { refresh_rate }) };
}

function maxDurationOf(seconds: number | undefined): SessionRow["maxDuration"] {
  return seconds === undefined ? undefined : { seconds, endsAtMs: Date.now() + seconds * 1000 };
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
    throw new ServiceError(
      409,
      "name_taken",
      `A running session of this project is named ${name} already. Choose another name, or delete that session.`,
    );
  }

  function profileFor(projectId: string, asked: z.output<typeof CreateBrowser>["profile"]): SessionRow["profile"] {
    if (asked === undefined) return undefined;
    const row = findProfile(store, projectId, asked.id ?? asked.name ?? "");
    // An id that is another profile's name is not meant, nor the other way round.
    if (asked.id === undefined ? row.name !== asked.name : row.id !== asked.id) throw profileNotFound(asked.id ?? asked.name ?? "");
    const writer = running(projectId).find(({ profile }) => profile?.row === row && profile.savesChanges);
    if (asked.save_changes && writer !== undefined) {
      throw new ServiceError(
        409,
        "profile_in_use",
        `Browser ${writer.id} saves its changes to profile ${row.id}, and only one session may write to it at a time. Wait until it ends, or end it; or leave save_changes away.`,
      );
    }
    row.lastUsedAt = new Date().toISOString();
    return { row, savesChanges: asked.save_changes };
  }

  return {
    createBrowser: ({ body, context: { baseUrl, projectId } }) => {
      refuseUnkept(body);
      const {
        chrome_policy,
        gpu,
        headless = true,
        kiosk_mode,
        name = null,
        start_url,
        stealth = false,
        tags = {},
        viewport = defaultViewport,
      } = body;
      if (body.region !== undefined && body.region !== region) {
        throw badInput(
          `body.region: this service has no server in region ${body.region} now; there is: ${region}. Leave the field away for the region of the server that is asked`,
        );
      }
      refuseImpossible({ start_url, viewport }, !headless);
      if (gpu === true)
        throw badInput("body.gpu: sessions of this service have no GPU, Chromium draws with the processor. Leave the field away, or send false");
      const limit = store.projects.find(({ id }) => id === projectId)?.limits.sessions ?? 0;
      if (limit > 0 && running(projectId).length >= limit) {
        throw new ServiceError(
          429,
          "too_many_requests",
          `This project runs ${limit} sessions, and may run ${limit}. Delete one, wait until one ends, or raise the limit: with projects.limits.update, or for all projects with organization.limits.update or the setting max_sessions_per_project.`,
          { retryAfterSeconds: 5, fields: { limit, used: limit, remaining: 0 } },
        );
      }
      if (name !== null) refuseTaken(projectId, name);
      const profile = profileFor(projectId, body.profile);
      const files = new FileTree();
      const row: SessionRow = {
        id: createId(),
        projectId,
        name,
        tags,
        createdAt: new Date().toISOString(),
        timeoutSeconds: body.timeout_seconds ?? defaultTimeoutSeconds,
        maxDuration: maxDurationOf(body.max_duration_seconds),
        viewport: sizeOf(viewport),
        profile,
        shown: {
          headless,
          stealth,
          ...(chrome_policy && { chrome_policy }),
          ...(gpu !== undefined && { gpu }),
          ...(kiosk_mode !== undefined && { kiosk_mode }),
          ...(start_url !== undefined && { start_url }),
        },
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
        .filter(() => query.region === undefined || query.region === region)
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
      refuseUnkept(body);
      refuseImpossible({ start_url: undefined, viewport: body.viewport });
      const row = existing(projectId, params.id_or_name);
      if (body.profile !== undefined && row.profile !== undefined)
        throw new ServiceError(
          409,
          "conflict",
          `Browser ${row.id} has profile ${row.profile.row.id} already; only a session without one can load another.`,
        );
      if (typeof body.name === "string") refuseTaken(projectId, body.name, row);
      const profile = profileFor(projectId, body.profile);
      if (body.name !== undefined) row.name = body.name;
      if (body.tags) row.tags = body.tags;
      if (body.viewport !== undefined) row.viewport = sizeOf(body.viewport);
      if (profile !== undefined) row.profile = profile;
      return toBrowser(row, baseUrl);
    },
    extendBrowser: ({ body, params, context: { baseUrl, projectId } }) => {
      const row = existing(projectId, params.id_or_name);
      row.maxDuration = maxDurationOf(body.max_duration_seconds ?? row.maxDuration?.seconds);
      return toBrowser(row, baseUrl);
    },
    deleteBrowser: ({ params, context }) => {
      endSession(existing(context.projectId, params.id_or_name), "deleted");
    },
  };
}
