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
import { defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";
import { policyBody } from "../base/policy-body.ts";

/** Warm browsers that callers lease and release. */
const area = "Browser Pools";
const idOrName = lazyObject(() => ({
  /** The pool's id, or its name. */
  id_or_name: Id,
}));

/** The pool fills in the background, at its fill rate. Warm and leased browsers count towards the limits. */
export const createBrowserPool = defineEndpoint({
  operationId: "browserPools.create",
  area,
  plane: "control",
  moves: ["write sessions"],
  method: "POST",
  idempotency: "transaction",
  path: "/browser_pools",
  summary: "Create a browser pool.",
  body: json(CreateBrowserPool, policyBody),
  responses: { 201: json(BrowserPool) },
  errors: [400, 401, 403, 404, 409, 429, 500, 501],
});

/** Newest first. */
export const listBrowserPools = defineEndpoint({
  operationId: "browserPools.list",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/browser_pools",
  summary: "List browser pools.",
  query: ListBrowserPools,
  responses: { 200: page(BrowserPool) },
  errors: [400, 401, 403, 500],
});

/** An id takes precedence over a name. */
export const getBrowserPool = defineEndpoint({
  operationId: "browserPools.get",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/browser_pools/{id_or_name}",
  summary: "Get a browser pool by id or name.",
  params: idOrName,
  responses: { 200: json(BrowserPool) },
  errors: [401, 403, 404, 500],
});

/** Absent fields stay unchanged. Leased and warm browsers keep the old configuration; `discard_all_idle` replaces the warm ones. */
export const updateBrowserPool = defineEndpoint({
  operationId: "browserPools.update",
  area,
  plane: "control",
  moves: ["write sessions"],
  method: "PATCH",
  path: "/browser_pools/{id_or_name}",
  summary: "Change a browser pool.",
  params: idOrName,
  body: json(UpdateBrowserPool, policyBody),
  responses: { 200: json(BrowserPool) },
  errors: [400, 401, 403, 404, 409, 429, 500, 501],
});

/** Ends its warm browsers. Fails while browsers are leased, unless `force` ends them too. */
export const deleteBrowserPool = defineEndpoint({
  operationId: "browserPools.delete",
  area,
  plane: "control",
  moves: ["write sessions"],
  method: "DELETE",
  path: "/browser_pools/{id_or_name}",
  summary: "Delete a browser pool.",
  params: idOrName,
  body: optionalJson(DeleteBrowserPool),
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Returns a warm browser at once, or waits for one. 204 without a body means timeout: try again. Return the browser with `browserPools.release`. */
export const acquireBrowser = defineEndpoint({
  operationId: "browserPools.acquire",
  area,
  plane: "control",
  returnsSessions: true,
  moves: ["write sessions", "read access_links"],
  method: "POST",
  path: "/browser_pools/{id_or_name}/acquire",
  summary: "Lease a browser from a pool.",
  params: idOrName,
  body: optionalJson(AcquireBrowser),
  responses: { 200: json(Browser), 204: empty },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** Ends the session with its cookies, storage, tabs, files and programs; the next caller gets a clean browser. With `reuse: false` the pool replaces it at its fill rate only. */
export const releaseBrowser = defineEndpoint({
  operationId: "browserPools.release",
  area,
  plane: "control",
  moves: ["write sessions"],
  method: "POST",
  path: "/browser_pools/{id_or_name}/release",
  summary: "Return a leased browser to its pool.",
  params: idOrName,
  body: json(ReleaseBrowser),
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Leased browsers stay. The pool refills at its fill rate. */
export const flushBrowserPool = defineEndpoint({
  operationId: "browserPools.flush",
  area,
  plane: "control",
  moves: ["write sessions"],
  method: "POST",
  path: "/browser_pools/{id_or_name}/flush",
  summary: "End all warm browsers of a pool.",
  params: idOrName,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});
