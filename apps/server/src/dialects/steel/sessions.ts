import { ServiceError } from "@shoal/router";
import type { Browser, Profile } from "@shoal/schemas";
import { browserOf, dropBrowser, endBrowser, endBrowsers } from "../kit/browsers.ts";
import { createBrowserFor } from "../kit/create-browser.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { reportIgnored } from "../kit/ignored.ts";
import { liveViewLink, pagesOf } from "../kit/live-pages.ts";
import type { NativeCalls } from "../kit/native-calls.ts";
import { startFrom } from "./context.ts";
import { toCreate } from "./create-session.ts";
import { endedReasons, idOf, toSession } from "./session-view.ts";
import type { CreateSession, ListSessions, Session } from "./shapes.ts";

const dialect = "steel";
const usualPage = 50;
const releasedAtOnce = 100;
const viewSeconds = 21_600;

async function withMetadata(calls: NativeCalls, id: string): Promise<Browser | undefined> {
  const query = { limit: 1, status: "all", origin: { dialect, metadata: { sessionId: id } } } as const;
  const page = await calls.call("listBrowsers", { query });
  return "items" in page ? page.items[0] : undefined;
}

/** A session, running or ended, by its id here or the id that its client chose. @throws {ServiceError} 404. */
export async function sessionOf(calls: NativeCalls, id: string): Promise<Browser> {
  try {
    return await browserOf(calls, id);
  } catch (error) {
    const isUnknown = ServiceError.isInstance(error) && error.status === 404;
    const chosen = isUnknown ? await withMetadata(calls, id) : undefined;
    if (chosen === undefined) throw error;
    return chosen;
  }
}

/** Reports fields without effect. @throws {ServiceError} 409 if the chosen id is taken. */
export async function createSession(
  parts: DialectParts,
  body: CreateSession,
  { caller, signal }: { readonly caller: DialectCaller; readonly signal: AbortSignal },
): Promise<Session> {
  const { calls, request } = caller;
  const { create, createsProfile, ignored, proxy, state } = toCreate(body);
  reportIgnored(request, ignored);
  const { sessionId } = body;
  if (sessionId !== undefined && (await withMetadata(calls, sessionId)) !== undefined)
    throw new ServiceError(409, "conflict", `Session ${sessionId} exists already.`, {
      field: "body.sessionId",
      hint: "Choose another id, or none.",
    });
  const origin = { dialect, ...(sessionId !== undefined && { metadata: { sessionId } }) };
  const profile: Profile | undefined = createsProfile ? await calls.call("createProfile", { body: {} }) : undefined;
  const from = profile && { profile: { id: profile.id, save_changes: true } };
  let browser: Browser | undefined;
  try {
    browser = await createBrowserFor(parts, { create: { ...create, ...from }, origin, proxy }, { calls, signal });
    if (state) await startFrom(state, { calls, sessionId: browser.session_id, signal });
    return toSession(browser, calls.access.baseUrl);
  } catch (error) {
    if (browser) await dropBrowser(parts, calls, browser.session_id);
    if (profile) await calls.call("deleteProfile", { params: { id_or_name: profile.id } }).catch(() => undefined);
    throw error;
  }
}

export async function getSession({ calls }: DialectCaller, id: string): Promise<Session> {
  return toSession(await sessionOf(calls, id), calls.access.baseUrl);
}

/** Newest first, also sessions of other clients. The next page begins after the id of the last item. */
export async function listSessions({ calls }: DialectCaller, { cursorId, limit = usualPage, status }: ListSessions) {
  const before = cursorId === undefined ? undefined : (await sessionOf(calls, cursorId)).session_id;
  const page = await calls.call("listBrowsers", {
    query: {
      limit,
      status: status === undefined ? "all" : status === "live" ? "active" : "deleted",
      ...(before !== undefined && { before }),
      ...(status !== undefined && status !== "live" && { endedReasons: endedReasons[status] }),
    },
  });
  const browsers = "items" in page ? page.items : [];
  const last = browsers.at(-1);
  return {
    sessions: browsers.map((browser) => toSession(browser, calls.access.baseUrl)),
    nextCursor: last !== undefined && browsers.length === limit ? idOf(last) : null,
  };
}

/** May be repeated. */
export async function releaseSession({ calls }: DialectCaller, id: string) {
  const browser = await sessionOf(calls, id);
  if (browser.deleted_at === undefined) await endBrowser(calls, browser.session_id);
  return { success: true, message: `Session ${id} was released.` };
}

/** Those of this interface in the project of the key. */
export async function releaseAll({ calls }: DialectCaller) {
  let before: string | undefined;
  let count = 0;
  for (;;) {
    const query = { limit: releasedAtOnce, status: "active", ...(before !== undefined && { before }) } as const;
    const page = await calls.call("listBrowsers", { query });
    const browsers = "items" in page ? page.items : [];
    const own = browsers.filter(({ origin }) => origin?.dialect === dialect);
    await endBrowsers(calls, own);
    count += own.length;
    before = browsers.at(-1)?.session_id;
    if (browsers.length < releasedAtOnce) return { success: true, message: `${String(count)} sessions were released.` };
  }
}

export async function liveDetails(parts: DialectParts, { calls }: DialectCaller, id: string) {
  const browser = await sessionOf(calls, id);
  const { browser_live_view_url: own, session_id: sessionId } = browser;
  const viewer = own ?? (await liveViewLink(parts, calls, { id: sessionId, seconds: viewSeconds }));
  const views = { sessionViewerUrl: viewer, sessionViewerFullscreenUrl: viewer };
  const pages = (await pagesOf(calls, sessionId)).map(({ faviconUrl, id: pageId, title, url }) => ({
    id: pageId,
    url,
    title,
    favicon: faviconUrl === "" ? null : faviconUrl,
    ...views,
  }));
  return { ...views, wsUrl: toSession(browser, calls.access.baseUrl).websocketUrl, pages };
}
