import {
  AcquireBrowser,
  Browser,
  BrowserPool,
  CreateBrowserPool,
  DeleteBrowserPool,
  Id,
  lazyObject,
  ListBrowserPools,
  ReleaseBrowser,
  UpdateBrowserPool,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "./endpoint.ts";
import { policyBody } from "./policy-body.ts";

const area = "Browser Pools";
const idOrName = lazyObject(() => ({
  /** The pool's id, or its name. */
  id_or_name: Id,
}));

/** It fills in the background, at its fill rate. All of its browsers count towards the limits, warm ones too. */
export const createBrowserPool = defineEndpoint({
  operationId: "browserPools.create",
  area,
  plane: "control",
  method: "POST",
  path: "/browser_pools",
  summary: "Create a browser pool.",
  body: json(CreateBrowserPool, policyBody),
  responses: { 201: json(BrowserPool) },
  errors: [400, 401, 403, 404, 409, 429, 500],
});

/** Newest first. */
export const listBrowserPools = defineEndpoint({
  operationId: "browserPools.list",
  area,
  plane: "control",
  method: "GET",
  path: "/browser_pools",
  summary: "List browser pools.",
  query: ListBrowserPools,
  responses: { 200: page(BrowserPool) },
  errors: [400, 401, 403, 500],
});

/** An id is looked for before a name. */
export const getBrowserPool = defineEndpoint({
  operationId: "browserPools.get",
  area,
  plane: "control",
  method: "GET",
  path: "/browser_pools/{id_or_name}",
  summary: "Get a browser pool by id or name.",
  params: idOrName,
  responses: { 200: json(BrowserPool) },
  errors: [401, 403, 404, 500],
});

/** Fields that are absent stay as they are. Leased browsers keep the old configuration; warm ones do so too, unless `discard_all_idle` replaces them. */
export const updateBrowserPool = defineEndpoint({
  operationId: "browserPools.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/browser_pools/{id_or_name}",
  summary: "Change a browser pool.",
  params: idOrName,
  body: json(UpdateBrowserPool, policyBody),
  responses: { 200: json(BrowserPool) },
  errors: [400, 401, 403, 404, 409, 429, 500],
});

/** Ends its warm browsers. While browsers are leased it is refused, unless `force` ends them too. */
export const deleteBrowserPool = defineEndpoint({
  operationId: "browserPools.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/browser_pools/{id_or_name}",
  summary: "Delete a browser pool.",
  params: idOrName,
  body: optionalJson(DeleteBrowserPool),
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** A warm browser is handed out at once; otherwise the answer waits for one, and is 204 without a body when none came in time: ask again. Give the browser back with `browserPools.release`. */
export const acquireBrowser = defineEndpoint({
  operationId: "browserPools.acquire",
  area,
  plane: "control",
  method: "POST",
  path: "/browser_pools/{id_or_name}/acquire",
  summary: "Lease a browser from a pool.",
  params: idOrName,
  body: optionalJson(AcquireBrowser),
  responses: { 200: json(Browser), 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** The session ends, with its cookies, storage, tabs, files and programs, and the next caller gets a clean one. With `reuse: false` the pool fills the place at its fill rate only. */
export const releaseBrowser = defineEndpoint({
  operationId: "browserPools.release",
  area,
  plane: "control",
  method: "POST",
  path: "/browser_pools/{id_or_name}/release",
  summary: "Give a leased browser back to its pool.",
  params: idOrName,
  body: json(ReleaseBrowser),
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Leased browsers stay. The pool fills again, at its fill rate. */
export const flushBrowserPool = defineEndpoint({
  operationId: "browserPools.flush",
  area,
  plane: "control",
  method: "POST",
  path: "/browser_pools/{id_or_name}/flush",
  summary: "End all warm browsers of a pool.",
  params: idOrName,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});
