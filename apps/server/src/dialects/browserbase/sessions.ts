import { contract as native } from "@shoal/contract";
import { answerJson } from "@shoal/placement";
import { checkedBody } from "@shoal/router";
import { type Browser, CreateProxy } from "@shoal/schemas";
import * as z from "zod/mini";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import { toBrowser } from "../../sessions/browsers/handlers.ts";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";
import { reportIgnored } from "../kit/ignored.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import type { NativeCalls } from "../kit/native-calls.ts";
import { type SessionPlan, toCreate } from "./create-session.ts";
import { endedReasonsOf, metadataIn, toConnectable, toSession } from "./session-view.ts";
import type { CreateSession, DebugAddresses, Session, SessionStatus } from "./shapes.ts";
import { browserOf } from "./browser-of.ts";
import { startRecordingOf } from "./recordings.ts";

const maxListed = 1000;
const maxDebugSeconds = 21_600;
const targetsMs = 10_000;

/** Of an instance, which may be compromised. */
const Targets = z.array(
  z.object({
    id: z.string(),
    type: z.string(),
    title: z._default(z.string(), ""),
    url: z._default(z.string(), ""),
    faviconUrl: z._default(z.string(), ""),
  }),
);

interface Creating {
  readonly calls: NativeCalls;
  readonly signal: AbortSignal;
}

/** Creates a session. @throws {ServiceError} as `browsers.create`, or 501 for an unsupported setting. */
async function createBrowser(parts: DialectParts, plan: SessionPlan, { calls, signal }: Creating): Promise<Browser> {
  const { create, metadata, proxy: wanted, records } = plan;
  const proxy = wanted && checkedBody(CreateProxy, wanted, "refuse");
  const origin = { dialect: "browserbase", ...(metadata && { metadata }) };
  const result = await calls.run(native.createBrowser, { body: create, signal }, async ({ body, context }) => {
    const view = await parts.sessions.create(context.projectId, body, signal, {
      apiKeyId: context.key.id,
      origin,
      ...(proxy && { proxy }),
      // A chosen recording is started by its own operation.
      ...(records !== undefined && { records: false }),
    });
    if (view instanceof RegionElsewhere) throw view.toError();
    return toBrowser(view, context, parts.signer);
  });
  return result;
}

/** Reports fields without effect. @throws {ServiceError} */
export async function createSession(
  parts: DialectParts,
  body: CreateSession,
  { caller, signal }: { readonly caller: DialectCaller; readonly signal: AbortSignal },
): Promise<Session> {
  const plan = toCreate(body);
  const calls = await caller.calls.inProject(body.projectId);
  reportIgnored(caller.request, plan.ignored);
  if (plan.proxy !== undefined) {
    // The audit log has the first operation.
    await calls.admit(native.createBrowser, {});
    await calls.admit(native.createProxy, {});
  }
  const browser = await createBrowser(parts, plan, { calls, signal });
  if (plan.records === true) {
    try {
      await startRecordingOf(parts, calls, { sessionId: browser.session_id, signal });
    } catch (error) {
      await calls.call("deleteBrowser", { params: { id_or_name: browser.session_id } });
      throw error;
    }
  }
  return toConnectable(browser, calls.access);
}

/** The newest sessions of the project, also those of other clients. */
export async function listSessions(
  { calls }: DialectCaller,
  { q, status }: { readonly q?: string | undefined; readonly status?: SessionStatus | undefined },
): Promise<Session[]> {
  const { projectId } = calls.access;
  const originMetadata = q === undefined ? undefined : metadataIn(q);
  // A session is shown once it runs.
  if (status === "PENDING") return [];
  const page = await calls.call("listBrowsers", {
    query: {
      limit: maxListed,
      status: status === undefined ? "all" : status === "RUNNING" ? "active" : "deleted",
      ...(originMetadata && { originMetadata }),
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
  await calls.call("deleteBrowser", { params: { id_or_name: present.session_id } });
  return toSession(await browserOf(calls, present.session_id), calls.access.projectId);
}

/** The live view, for the whole session and for each of its pages. */
export async function debugSession(
  { calls }: DialectCaller,
  id: string,
  expiresIn: number | undefined,
): Promise<DebugAddresses> {
  const browser = await browserOf(calls, id);
  const { browser_live_view_url: own, cdp_ws_url: wsUrl, session_id: sessionId } = browser;
  const url =
    expiresIn === undefined && own !== undefined ? own : await linkFor(calls, sessionId, expiresIn ?? maxDebugSeconds);
  const addresses = { debuggerUrl: url, debuggerFullscreenUrl: url };
  const instance = await calls.instanceTo("browsers.cdp.connect", sessionId);
  try {
    const answer = await instance.request({
      method: "GET",
      path: "/json/list",
      signal: AbortSignal.timeout(targetsMs),
    });
    const targets = Targets.parse(await answerJson(answer));
    const pages = targets
      .filter(({ type }) => type === "page")
      .map(({ faviconUrl, id: pageId, title, url: address }) => ({
        id: pageId,
        url: address,
        title,
        faviconUrl,
        ...addresses,
      }));
    return { ...addresses, wsUrl, pages };
  } catch (error) {
    throw noAnswer(error, sessionId);
  }
}

async function linkFor(calls: NativeCalls, id: string, seconds: number): Promise<string> {
  const body = { scope: "operate", expires_in_seconds: seconds } as const;
  const link = await calls.call("createLiveViewLink", { params: { id }, body });
  return (link as { readonly url?: string }).url ?? "";
}
