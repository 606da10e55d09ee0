import { CheckProxy, CreateProxy, Id, lazyObject, ListProxies, Proxy, UpdateProxy } from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "./endpoint.ts";

const area = "Proxies";
const id = lazyObject(() => ({
  /** The proxy's id. */
  id: Id,
}));

/** `custom` stands for a proxy server of your own; of the other types there are those that the service's operator provides. */
export const createProxy = defineEndpoint({
  operationId: "proxies.create",
  area,
  plane: "control",
  method: "POST",
  path: "/proxies",
  summary: "Create a proxy.",
  body: json(CreateProxy),
  responses: { 201: json(Proxy) },
  errors: [400, 401, 403, 500],
});

/** Newest first. */
export const listProxies = defineEndpoint({
  operationId: "proxies.list",
  area,
  plane: "control",
  method: "GET",
  path: "/proxies",
  summary: "List proxies.",
  query: ListProxies,
  responses: { 200: page(Proxy) },
  errors: [400, 401, 403, 500],
});

/** By its id only: names need not be unique. */
export const getProxy = defineEndpoint({
  operationId: "proxies.get",
  area,
  plane: "control",
  method: "GET",
  path: "/proxies/{id}",
  summary: "Get a proxy.",
  params: id,
  responses: { 200: json(Proxy) },
  errors: [401, 403, 404, 500],
});

/** The rest of a proxy stays as it was made. */
export const updateProxy = defineEndpoint({
  operationId: "proxies.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/proxies/{id}",
  summary: "Rename a proxy.",
  params: id,
  body: json(UpdateProxy),
  responses: { 200: json(Proxy) },
  errors: [400, 401, 403, 404, 500],
});

/** Sessions that use it go on using it. */
export const deleteProxy = defineEndpoint({
  operationId: "proxies.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/proxies/{id}",
  summary: "Delete a proxy.",
  params: id,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Fetches a page through the proxy, and stores what was found unless `url` names the page. The exits of `residential` and `mobile` proxies change from one request to the next. */
export const checkProxy = defineEndpoint({
  operationId: "proxies.check",
  area,
  plane: "control",
  method: "POST",
  path: "/proxies/{id}/check",
  summary: "Check whether a proxy works.",
  params: id,
  body: optionalJson(CheckProxy),
  responses: { 200: json(Proxy) },
  errors: [400, 401, 403, 404, 422, 500],
});
