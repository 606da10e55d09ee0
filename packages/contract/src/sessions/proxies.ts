import { CheckProxy, CreateProxy, Id, lazyObject, ListProxies, Proxy, UpdateProxy } from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";

/** Network exits that sessions can use. */
const area = "Proxies";
const idOrName = lazyObject(() => ({
  /** The proxy's id, or a name that only this proxy has. */
  id_or_name: Id,
}));

/** `custom` is your own proxy server. The service's operator provides the other types. */
export const createProxy = defineEndpoint({
  operationId: "proxies.create",
  area,
  plane: "control",
  moves: ["write proxies"],
  scope: ["proxies:create"],
  method: "POST",
  idempotency: "transaction",
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
  moves: ["read proxies"],
  scope: ["proxies:read"],
  method: "GET",
  path: "/proxies",
  summary: "List proxies.",
  query: ListProxies,
  responses: { 200: page(Proxy) },
  errors: [400, 401, 403, 500],
});

/** A name that several proxies have is refused. */
export const getProxy = defineEndpoint({
  operationId: "proxies.get",
  area,
  plane: "control",
  moves: ["read proxies"],
  scope: ["proxies:read"],
  method: "GET",
  path: "/proxies/{id_or_name}",
  summary: "Get a proxy.",
  params: idOrName,
  responses: { 200: json(Proxy) },
  errors: [400, 401, 403, 404, 500],
});

/** Other fields cannot be changed. */
export const updateProxy = defineEndpoint({
  operationId: "proxies.update",
  area,
  plane: "control",
  moves: ["write proxies"],
  scope: ["proxies:write"],
  method: "PATCH",
  path: "/proxies/{id_or_name}",
  summary: "Rename a proxy.",
  params: idOrName,
  body: json(UpdateProxy),
  responses: { 200: json(Proxy) },
  errors: [400, 401, 403, 404, 500],
});

/** Running sessions keep using it. */
export const deleteProxy = defineEndpoint({
  operationId: "proxies.delete",
  area,
  plane: "control",
  moves: ["write proxies"],
  scope: ["proxies:delete"],
  method: "DELETE",
  path: "/proxies/{id_or_name}",
  summary: "Delete a proxy.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Fetches a page through the proxy and stores the result, unless `url` is given. The exits of `residential` and `mobile` proxies change from one request to the next. */
export const checkProxy = defineEndpoint({
  operationId: "proxies.check",
  area,
  plane: "control",
  moves: ["read proxies", "write traffic"],
  scope: ["proxies:use", "proxies:read"],
  method: "POST",
  path: "/proxies/{id_or_name}/check",
  summary: "Check whether a proxy works.",
  params: idOrName,
  body: optionalJson(CheckProxy),
  responses: { 200: json(Proxy) },
  errors: [400, 401, 403, 404, 422, 500],
});
