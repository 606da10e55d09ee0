import {
  Browser,
  BrowserStats,
  CreateBrowser,
  CreateSnapshot,
  Curl,
  CurlError,
  CurlResult,
  ExtendBrowser,
  ForkBrowser,
  ForkedBrowsers,
  GetBrowser,
  Id,
  lazyObject,
  LimitError,
  ListBrowsers,
  LoadExtensions,
  Snapshot,
  UpdateBrowser,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, multipart, optionalJson, page } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";
import { policyBody } from "../base/policy-body.ts";

/** Browser sessions: start, find, change and end them, and send requests through their network. */
const area = "Browsers";
const idOrName = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id_or_name: Id,
}));

/** Returns when the browser accepts CDP connections. */
export const createBrowser = defineEndpoint({
  operationId: "browsers.create",
  area,
  plane: "control",
  returnsSessions: true,
  tool: "open_browser",
  moves: ["write sessions", "read access_links"],
  scope: ["browsers:create", "browsers:use"],
  method: "POST",
  path: "/browsers",
  summary: "Start a browser session.",
  body: optionalJson(CreateBrowser, policyBody),
  responses: { 200: json(Browser) },
  errors: [400, 401, 403, 404, 409, 429, 500, 501, 507, 529],
  errorBodies: { 429: LimitError },
});

/** Newest first. Only running sessions, unless `status` is set. */
export const listBrowsers = defineEndpoint({
  operationId: "browsers.list",
  area,
  plane: "control",
  returnsSessions: true,
  aboutExistence: true,
  tool: "list_browsers",
  moves: ["read sessions"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers",
  summary: "List browser sessions.",
  query: ListBrowsers,
  responses: { 200: page(Browser) },
  errors: [400, 401, 500],
});

/** Finds an ended session by id with `include_deleted`. */
export const getBrowser = defineEndpoint({
  operationId: "browsers.get",
  area,
  plane: "control",
  returnsSessions: true,
  aboutExistence: true,
  moves: ["read sessions"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id_or_name}",
  summary: "Get a browser session by id or name.",
  params: idOrName,
  query: GetBrowser,
  responses: { 200: json(Browser) },
  errors: [401, 404, 500],
});

/** Absent fields stay unchanged. */
export const updateBrowser = defineEndpoint({
  operationId: "browsers.update",
  area,
  plane: "control",
  returnsSessions: true,
  moves: ["write sessions"],
  scope: ["browsers:write", "browsers:use"],
  method: "PATCH",
  path: "/browsers/{id_or_name}",
  summary: "Change a running browser session.",
  params: idOrName,
  body: json(UpdateBrowser, policyBody),
  responses: { 200: json(Browser) },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** Restarts the idle timeout and, if set, `max_duration_seconds`. */
export const extendBrowser = defineEndpoint({
  operationId: "browsers.extend",
  area,
  plane: "control",
  returnsSessions: true,
  moves: ["write sessions"],
  scope: ["browsers:write", "browsers:use"],
  method: "POST",
  path: "/browsers/{id_or_name}/extend",
  summary: "Extend a running browser session.",
  params: idOrName,
  body: optionalJson(ExtendBrowser),
  responses: { 200: json(Browser) },
  errors: [400, 401, 404, 409, 500],
});

/** Starts sessions with the present state of a running one, which continues. They have its cookies, storage, open tabs and settings, and none of its files. If some do not start, `errors` has the reasons; if none starts, the call fails. Specific to Shoal. */
export const forkBrowser = defineEndpoint({
  operationId: "browsers.fork",
  area,
  plane: "control",
  returnsSessions: true,
  moves: ["write sessions", "read access_links", "read files"],
  scope: ["browsers:create", "browsers:use"],
  method: "POST",
  path: "/browsers/{id_or_name}/fork",
  summary: "Fork a running browser session.",
  params: idOrName,
  body: optionalJson(ForkBrowser),
  responses: { 200: json(ForkedBrowsers) },
  errors: [400, 401, 403, 404, 409, 413, 429, 500, 501, 503, 507, 529],
  errorBodies: { 429: LimitError },
});

/** Stores the present state of a session, which continues unless `stop` is set. `browsers.create` with `snapshot` starts sessions from it. Specific to Shoal. */
export const snapshotBrowser = defineEndpoint({
  operationId: "browsers.snapshot",
  area,
  plane: "control",
  moves: ["write sessions", "read files"],
  method: "POST",
  path: "/browsers/{id_or_name}/snapshots",
  summary: "Take a snapshot of a running browser session.",
  params: idOrName,
  body: optionalJson(CreateSnapshot),
  responses: { 201: json(Snapshot) },
  errors: [400, 401, 403, 404, 409, 413, 500, 501, 503, 507, 529],
});

/** Ends the browser and the session's processes, and deletes its files. */
export const deleteBrowser = defineEndpoint({
  operationId: "browsers.delete",
  area,
  plane: "control",
  aboutExistence: true,
  tool: "close_browser",
  moves: ["write sessions"],
  scope: ["browsers:delete"],
  method: "DELETE",
  path: "/browsers/{id_or_name}",
  summary: "End a browser session.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 404, 500],
});

/** Sends the request like the browser's own: with its cookies, TLS fingerprint and proxy. Follows redirects. The response is buffered in memory. */
export const curl = defineEndpoint({
  operationId: "browsers.curl",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "targets", direct: true },
  moves: ["read traffic", "write traffic"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/curl",
  summary: "Send an HTTP request through the browser.",
  params: sessionId,
  body: json(Curl),
  responses: { 200: json(CurlResult) },
  errors: [400, 401, 403, 404, 413, 429, 500, 502, 503],
  errorBodies: { 502: CurlError },
});

/** Does not count as use of the session. */
export const getBrowserStats = defineEndpoint({
  operationId: "browsers.stats",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, passive: "always" },
  moves: ["read sessions"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/stats",
  summary: "Get the present load of a session.",
  params: sessionId,
  responses: { 200: json(BrowserStats) },
  errors: [401, 403, 404, 500],
});

/** Takes unpacked extensions as ZIP archives. If the browser has to restart, CDP clients lose their connection. */
export const loadExtensions = defineEndpoint({
  operationId: "browsers.loadExtensions",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "extensions", manages: true },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "The archives are a stream; a name that is loaded is refused." },
  path: "/browsers/{id}/extensions",
  summary: "Load extensions into a running session.",
  params: sessionId,
  body: multipart(LoadExtensions),
  responses: { 201: empty },
  errors: [400, 401, 403, 404, 413, 500],
});
