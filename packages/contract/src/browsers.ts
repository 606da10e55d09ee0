import { Browser, CreateBrowser, GetBrowser, Id, lazyObject, ListBrowsers, UpdateBrowser } from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "./endpoint.ts";

const area = "Browsers";
const idOrName = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id_or_name: Id,
}));

/** Answers when the browser takes CDP connections. */
export const createBrowser = defineEndpoint({
  operationId: "browsers.create",
  area,
  plane: "control",
  method: "POST",
  path: "/browsers",
  summary: "Start a browser session.",
  body: optionalJson(CreateBrowser),
  responses: { 200: json(Browser) },
  errors: [400, 401, 403, 404, 409, 429, 500, 501, 529],
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
  body: json(UpdateBrowser),
  responses: { 200: json(Browser) },
  errors: [400, 401, 403, 404, 409, 500, 501],
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
