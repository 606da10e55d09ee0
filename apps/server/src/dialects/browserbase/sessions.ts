import { reportIgnored } from "../kit/ignored.ts";
import { browserOf, endBrowser } from "../kit/browsers.ts";
import { createBrowserFor } from "../kit/create-browser.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { liveViewLink, pagesOf } from "../kit/live-pages.ts";
import { toCreate } from "./create-session.ts";
import { endedReasonsOf, metadataIn, toConnectable, toSession } from "./session-view.ts";
import { type CreateSession, type DebugAddresses, projectIn, type Session, type SessionStatus } from "./shapes.ts";

const maxListed = 1000;
const maxDebugSeconds = 21_600;

/** Reports fields without effect. @throws {ServiceError} */
export async function createSession(
  parts: DialectParts,
  body: CreateSession,
  { caller, signal }: { readonly caller: DialectCaller; readonly signal: AbortSignal },
): Promise<Session> {
  const plan = toCreate(body);
  const calls = await caller.calls.inProject(projectIn(body));
  reportIgnored(caller.request, plan.ignored);
  const { create, metadata, proxy } = plan;
  const origin = { dialect: "browserbase", ...(metadata && { metadata }) };
  const browser = await createBrowserFor(parts, { create, origin, proxy }, { calls, signal });
  return toConnectable(browser, calls.access);
}

/** The newest sessions of the project, also those of other clients. */
export async function listSessions(
  { calls }: DialectCaller,
  { q, status }: { readonly q?: string | undefined; readonly status?: SessionStatus | undefined },
): Promise<Session[]> {
  const { projectId } = calls.access;
  const metadata = q === undefined ? undefined : metadataIn(q);
  // A session is shown once it runs.
  if (status === "PENDING") return [];
  const page = await calls.call("listBrowsers", {
    query: {
      limit: maxListed,
      status: status === undefined ? "all" : status === "RUNNING" ? "active" : "deleted",
      ...(metadata && { origin: { metadata } }),
      ...(status !== undefined && status !== "RUNNING" && { endedReasons: endedReasonsOf(status) }),
    },
  });
  return "items" in page ? page.items.map((browser) => toSession(browser, projectId)) : [];
}

export async function getSession({ calls }: DialectCaller, id: string): Promise<Session> {
  return toConnectable(await browserOf(calls, id), calls.access);
}

/** May be repeated. */
export async function releaseSession({ calls: own }: DialectCaller, id: string, project?: string): Promise<Session> {
  const calls = await own.inProject(project);
  const present = await browserOf(calls, id);
  if (present.deleted_at !== undefined) return toSession(present, calls.access.projectId);
  await endBrowser(calls, present.session_id);
  return toSession(await browserOf(calls, present.session_id), calls.access.projectId);
}

/** The live view, for the whole session and for each of its pages. */
export async function debugSession(
  parts: DialectParts,
  { calls }: DialectCaller,
  { expiresIn, id }: { readonly id: string; readonly expiresIn: number | undefined },
): Promise<DebugAddresses> {
  const browser = await browserOf(calls, id);
  const { browser_live_view_url: own, cdp_ws_url: wsUrl, session_id: sessionId } = browser;
  const url =
    expiresIn === undefined && own !== undefined
      ? own
      : await liveViewLink(parts, calls, { id: sessionId, seconds: expiresIn ?? maxDebugSeconds });
  const addresses = { debuggerUrl: url, debuggerFullscreenUrl: url };
  const pages = (await pagesOf(calls, sessionId)).map(({ faviconUrl, id: pageId, title, url: address }) => ({
    id: pageId,
    url: address,
    title,
    faviconUrl,
    ...addresses,
  }));
  return { ...addresses, wsUrl, pages };
}
