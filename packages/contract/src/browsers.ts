import {
  Browser,
  CreateBrowser,
  Curl,
  CurlError,
  CurlResult,
  ExtendBrowser,
  GetBrowser,
  Id,
  lazyObject,
  LimitError,
  ListBrowsers,
  LoadExtensions,
  UpdateBrowser,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, multipart, optionalJson, page } from "./endpoint.ts";
import { policyBody } from "./policy-body.ts";

const area = "Browsers";
const idOrName = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id_or_name: Id,
}));
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));

/** Answers when the browser takes CDP connections. */
export const createBrowser = defineEndpoint({
  operationId: "browsers.create",
  area,
  plane: "control",
  method: "POST",
  path: "/browsers",
  summary: "Start a browser session.",
  body: optionalJson(CreateBrowser, policyBody),
  responses: { 200: json(Browser) },
  errors: [400, 401, 403, 404, 409, 429, 500, 501, 507, 529],
  errorBodies: { 429: LimitError },
});

/** Newest first; sessions that run, unless `status` says otherwise. */
export const listBrowsers = defineEndpoint({
  operationId: "browsers.list",
  area,
  plane: "control",
  method: "GET",
  path: "/browsers",
  summary: "List browser sessions.",
  query: ListBrowsers,
  responses: { 200: page(Browser) },
  errors: [400, 401, 500],
});

/** A session that has ended is found by its id with `include_deleted`. */
export const getBrowser = defineEndpoint({
  operationId: "browsers.get",
  area,
  plane: "control",
  method: "GET",
  path: "/browsers/{id_or_name}",
  summary: "Get a browser session by id or name.",
  params: idOrName,
  query: GetBrowser,
  responses: { 200: json(Browser) },
  errors: [401, 404, 500],
});

/** Fields that are absent stay as they are. */
export const updateBrowser = defineEndpoint({
  operationId: "browsers.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/browsers/{id_or_name}",
  summary: "Change a running browser session.",
  params: idOrName,
  body: json(UpdateBrowser, policyBody),
  responses: { 200: json(Browser) },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** Counts the time without use from now, and the time until a session with `max_duration_seconds` ends anyway. */
export const extendBrowser = defineEndpoint({
  operationId: "browsers.extend",
  area,
  plane: "control",
  method: "POST",
  path: "/browsers/{id_or_name}/extend",
  summary: "Give a running browser session more time.",
  params: idOrName,
  body: optionalJson(ExtendBrowser),
  responses: { 200: json(Browser) },
  errors: [400, 401, 404, 409, 500],
});

/** Ends the browser, everything that runs beside it, and its files. */
export const deleteBrowser = defineEndpoint({
  operationId: "browsers.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/browsers/{id_or_name}",
  summary: "End a browser session.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 404, 500],
});

/** The request goes out as the browser's own do: with its cookies, its TLS and its proxy. Redirects are followed. The answer is held in memory. */
export const curl = defineEndpoint({
  operationId: "browsers.curl",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/curl",
  summary: "Send an HTTP request through the browser.",
  params: id,
  body: json(Curl),
  responses: { 200: json(CurlResult) },
  errors: [400, 401, 403, 404, 413, 429, 500, 502, 503],
  errorBodies: { 502: CurlError },
});

/** Unpacked extensions in ZIP archives. CDP clients may lose their connection, where the browser has to be started again for it. */
export const loadExtensions = defineEndpoint({
  operationId: "browsers.loadExtensions",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/extensions",
  summary: "Load extensions into a running session.",
  params: id,
  body: multipart(LoadExtensions),
  responses: { 201: empty },
  errors: [400, 401, 403, 404, 413, 500],
});
