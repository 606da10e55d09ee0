import { shownLocation } from "@shoal/contract/network";
import { contract, type ControlOperationsOf, type Endpoint } from "@shoal/contract";
import { outsidePolicy } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import type { Browser, CreateBrowser, Profile } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import { mayCall, mayUseSecrets, mayUseVaults } from "../../http/auth/rights.ts";
import type { LiveViewAddresses } from "../live-view/live-view-address.ts";
import type { Profiles } from "../../resources/profiles/profiles.ts";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import type { Regions } from "../../cluster/regions.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { shownCategories, shownExport } from "../telemetry/categories.ts";
import { enderOf } from "./lifecycle.ts";
import type { SessionOptions } from "./options/session-options.ts";
import { forkedBrowsers } from "./fork/forked-browsers.ts";
import type { SessionView, SessionWishes } from "./running-session.ts";
import type { SessionRow } from "./session-store.ts";
import type { Sessions } from "./sessions.ts";

export interface SessionSigner {
  readonly profiles: Pick<Profiles, "get">;
  readonly secrets: Pick<Secrets, "signSession">;
  readonly liveViews: Pick<LiveViewAddresses, "of">;
  readonly contentUrl?: string | undefined;
}

/** The URLs start with the caller's base URL and expire with the caller's key. */
export async function toBrowser(
  { row, asleepSinceMs, expiresAt, captured, pageUrl }: SessionView,
  { baseUrl, key, viewerUrl }: Pick<Access, "baseUrl" | "key" | "viewerUrl">,
  { profiles, secrets, liveViews, contentUrl }: SessionSigner,
): Promise<Browser> {
  const profile = row.profile_id === null ? undefined : await profileOf(profiles, row.project_id, row.profile_id);
  const token = secrets.signSession(row.id, key.id);
  const address = `${baseUrl}/browsers/${row.id}`;
  const socket = address.replace(/^http/, "ws");
  const { options } = row;
  const endMs = row.ended_at === null ? Date.now() : Date.parse(row.ended_at);
  const browser: Browser = {
    session_id: row.id,
    created_at: row.created_at,
    cdp_ws_url: `${socket}/cdp?jwt=${token}`,
    webdriver_ws_url: `${socket}/webdriver?jwt=${token}`,
    ...(options.isolation !== "context" && { playwright_ws_url: `${socket}/playwright?jwt=${token}` }),
    headless: row.headless,
    stealth: row.stealth,
    timeout_seconds: row.timeout_seconds,
    ...(profile && { profile, profile_save_changes: row.profile_save_changes }),
    usage: { uptime_ms: Math.max(0, endMs - Date.parse(row.created_at)) },
    placement: row.placement,
    browser_restarts: row.browser_restarts,
    region: row.region,
  };
  // Assigned field by field: for a page of a hundred sessions, object spread costs more than the query.
  if (row.ended_at === null) {
    const reader = { baseUrl: viewerUrl ?? baseUrl, keyId: key.id };
    const { browser_live_view_read_only_url, browser_live_view_url } = liveViews.of(row, reader);
    // No prefix of the service's paths: some SDKs remove the key from requests below it.
    browser.base_url = `${contentUrl ?? baseUrl}/sessions/${row.id}`;
    if (browser_live_view_url !== undefined) browser.browser_live_view_url = browser_live_view_url;
    if (browser_live_view_read_only_url !== undefined)
      browser.browser_live_view_read_only_url = browser_live_view_read_only_url;
  } else browser.deleted_at = row.ended_at;
  if (row.memory !== null) browser.memory = row.memory;
  if (row.name !== null) browser.name = row.name;
  if (Object.keys(row.tags).length > 0) browser.tags = row.tags;
  if (row.pool_id !== null)
    browser.pool = row.pool_name === null ? { id: row.pool_id } : { id: row.pool_id, name: row.pool_name };
  if (row.viewport !== null) browser.viewport = row.viewport;
  if (options.signs_in === true) browser.signs_in = true;
  if (options.origin) browser.origin = options.origin;
  if (options.forked_from !== undefined) browser.forked_from = options.forked_from;
  if (options.snapshot !== undefined) browser.snapshot_id = options.snapshot;
  if (options.vaults) browser.vaults = [...options.vaults];
  if (options.isolation !== undefined) browser.isolation = options.isolation;
  if (options.kiosk_mode === true) browser.kiosk_mode = true;
  const network = networkOf(options);
  if (network) browser.network = network;
  if (options.web_bot_auth) browser.web_bot_auth = options.web_bot_auth;
  const location = options.location && shownLocation(options.location, options.exit_timezone);
  if (location) browser.location = location;
  if (options.conditions) browser.conditions = options.conditions;
  addRecordings(browser, options);
  if (options.chrome_policy) browser.chrome_policy = options.chrome_policy;
  if (row.start_url !== null) browser.start_url = row.start_url;
  if (pageUrl !== undefined) browser.page_url = pageUrl;
  if (row.proxy !== null) {
    browser.proxy = row.proxy;
    if (row.proxy.id !== undefined) browser.proxy_id = row.proxy.id;
  }
  const { captured: _captured, ...lifecycle } = row.lifecycle;
  if (captured) browser.telemetry = shownCategories(captured);
  if (row.ended_at === null && row.telemetry_destination_id !== null)
    browser.telemetry = { ...browser.telemetry, ...shownExport(row.telemetry_destination_id) };
  if (expiresAt) browser.expires_at = expiresAt.toISOString();
  if (options.disconnect_timeout_seconds !== undefined)
    browser.disconnect_timeout_seconds = options.disconnect_timeout_seconds;
  if (options.connect_timeout_seconds !== undefined) browser.connect_timeout_seconds = options.connect_timeout_seconds;
  if (options.sleep_after_seconds !== undefined) browser.sleep_after_seconds = options.sleep_after_seconds;
  if (asleepSinceMs !== undefined) browser.asleep_since = new Date(asleepSinceMs).toISOString();
  if (row.max_duration_seconds !== null) browser.max_duration_seconds = row.max_duration_seconds;
  if (row.ends_at !== null) browser.ends_at = row.ends_at;
  if (row.ended_reason !== null) browser.ended_reason = row.ended_reason;
  if (Object.keys(lifecycle).length > 0) browser.lifecycle = lifecycle;
  return browser;
}

function addRecordings(browser: Browser, { network_recording, recording_video: video, replay }: SessionOptions): void {
  if (video !== undefined) browser.recording = { video };
  if (network_recording !== undefined) browser.network_recording_id = network_recording;
  if (replay) browser.network_replay = replay;
}

function networkOf({
  allowlist,
  headers,
  http_auth,
  network_rules: rules,
  private_hosts,
  proxy_routes,
}: SessionOptions): Browser["network"] {
  if ((allowlist ?? headers ?? http_auth ?? rules ?? private_hosts ?? proxy_routes) === undefined) return undefined;
  return {
    ...(allowlist?.hosts && { allowed_hosts: [...allowlist.hosts] }),
    ...(allowlist && { allowlist_state: { ...allowlist.state } }),
    ...(proxy_routes && { proxy_routes: [...proxy_routes] }),
    ...(headers && { headers: [...headers] }),
    ...(http_auth && { http_auth: [...http_auth] }),
    ...(private_hosts && { private_hosts: [...private_hosts] }),
    ...(rules?.allow && { allow: [...rules.allow] }),
    ...(rules?.deny && { deny: [...rules.deny] }),
  };
}

/** Returns `undefined` if the profile was just deleted. */
async function profileOf(profiles: Pick<Profiles, "get">, projectId: string, id: string): Promise<Profile | undefined> {
  try {
    return await profiles.get(projectId, id);
  } catch (error) {
    if (ServiceError.isInstance(error) && error.status === 404) return undefined;
    throw error;
  }
}

/** Creates the session here, or on a server that can. @returns what `show` makes of it, or the other server's answer. */
export function createSession<Shown>(
  {
    regions,
    sessions,
  }: { readonly sessions: Sessions; readonly regions: Pick<Regions, "answer" | "hasOthers" | "own"> },
  call: Parameters<Regions["answer"]>[0] & { readonly body: Parameters<Sessions["create"]>[1] },
  { show, wishes }: { readonly wishes: SessionWishes; readonly show: (view: SessionView) => Promise<Shown> },
): Promise<Shown> {
  return regions.answer(call, async () => {
    if (sessions.isDraining && regions.hasOthers)
      return new RegionElsewhere({ region: regions.own, path: "/browsers", isAsked: false });
    const view = await sessions.create(call.context.projectId, call.body, call.signal, wishes);
    return view instanceof RegionElsewhere ? view : show(view);
  });
}

/** The rights of the caller in a new session. @throws {ServiceError} 403 for a snapshot without the right to any. */
export function wishesOf(
  context: Access,
  { snapshot }: Pick<CreateBrowser, "snapshot">,
): Pick<Required<SessionWishes>, "apiKeyId" | "requireOriginal" | "usesSecrets" | "usesVaults"> {
  if (snapshot !== undefined && !mayCall(context, contract.snapshotBrowser))
    throw ServiceError.of(outsidePolicy(contract.createBrowser.operationId, "body.snapshot"));
  return {
    apiKeyId: context.key.id,
    usesSecrets: mayUseSecrets(context),
    usesVaults: mayUseVaults(context),
    requireOriginal: (original) => {
      requireOriginal(context, original);
    },
  };
}

export function browserHandlers(
  sessions: Sessions,
  signer: SessionSigner,
  regions: Pick<Regions, "answer" | "hasOthers" | "own">,
): Handlers<Omit<ControlOperationsOf<"browsers">, "downloadEvidence" | "renderPage" | "saveBrowserProfile">, Access> {
  const shown = (view: SessionView, access: Access) => toBrowser(view, access, signer);
  return {
    createBrowser: (call) =>
      createSession({ sessions, regions }, call, {
        wishes: wishesOf(call.context, call.body),
        show: (view) => shown(view, call.context),
      }),
    async listBrowsers({ query, context }) {
      const page = await sessions.list(context.projectId, { ...query, visible: context.visible });
      return { ...page, items: await Promise.all(page.items.map((view) => shown(view, context))) };
    },
    getBrowser: async ({ params, query, context }) =>
      shown(await sessions.get(context.projectId, params.id_or_name, query.include_deleted), context),
    updateBrowser: async ({ params, body, context, signal }) =>
      shown(
        await sessions.update(context.projectId, params.id_or_name, body, {
          signal,
          usesSecrets: mayUseSecrets(context, params.id_or_name),
        }),
        context,
      ),
    snapshotBrowser: ({ params, body, context, signal }) =>
      sessions.snapshots.take(context.projectId, params.id_or_name, body, {
        ...forkCaller(context, params.id_or_name, contract.snapshotBrowser),
        ...{ signal, by: enderOf(context) },
        requireStop: (parent) => {
          requireStop(context, parent);
        },
      }),
    async forkBrowser({ params, body, context, signal }) {
      const by = { ...forkCaller(context, params.id_or_name, contract.forkBrowser), signal };
      const { views, ...forks } = await sessions.forks.fork(context.projectId, params.id_or_name, body, by);
      const browsers = await Promise.all(views.map((view) => shown(view, context)));
      return forkedBrowsers(browsers, forks);
    },
    extendBrowser: async ({ params, body, context }) =>
      shown(await sessions.extend(context.projectId, params.id_or_name, body), context),
    deleteBrowser: ({ params, context }) => sessions.delete(context.projectId, params.id_or_name, enderOf(context)),
  };
}

function forkCaller(context: Access, idOrName: string, endpoint: Endpoint) {
  return {
    apiKeyId: context.key.id,
    usesSecrets: mayUseSecrets(context, idOrName),
    requirePolicy: (parent: SessionRow) => {
      requireFork(context, parent, endpoint);
    },
  };
}

/** A right to one session alone allows the snapshots of that session alone. */
function requireOriginal({ key: { policy }, projectId }: Access, { id, profile_id }: SessionRow): void {
  const { createBrowser, snapshotBrowser } = contract;
  if (policy !== undefined && policy.permit(snapshotBrowser, projectId, { id, profileId: profile_id }) === undefined)
    throw ServiceError.of(outsidePolicy(createBrowser.operationId, "body.snapshot"));
}

function requireStop(context: Access, { id, profile_id }: SessionRow): void {
  const { deleteBrowser, snapshotBrowser } = contract;
  const { policy } = context.key;
  const mayStop =
    policy === undefined
      ? mayCall(context, deleteBrowser)
      : policy.permit(deleteBrowser, context.projectId, { id, profileId: profile_id }) !== undefined;
  if (!mayStop) throw ServiceError.of(outsidePolicy(snapshotBrowser.operationId, "body.stop"));
}

/** Again, because the session may have loaded a profile after the entrance read its row. */
function requireFork({ key: { policy }, projectId }: Access, { id, profile_id }: SessionRow, endpoint: Endpoint): void {
  const { operationId } = endpoint;
  if (policy !== undefined && policy.permit(endpoint, projectId, { id, profileId: profile_id }) === undefined)
    throw ServiceError.of(outsidePolicy(operationId, profile_id === null ? undefined : "its profile"));
}
