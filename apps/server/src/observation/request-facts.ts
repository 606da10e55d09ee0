import { contract, type Endpoint } from "@shoal/contract";
import type { IncomingMessage } from "node:http";
import type { Access } from "../auth/access.ts";

const route = Symbol("route");
const access = Symbol("access");
const keyId = Symbol("key id");

/** Properties of the request, as its id is. */
interface Noted extends IncomingMessage {
  [route]?: string | undefined;
  [access]?: Access;
  [keyId]?: string;
}

/** Keeps which route a request has taken, as the HTTP server names it: `/profiles/:id_or_name`. */
export function noteRoute(request: Noted, url: string | undefined): void {
  request[route] = url;
}

/** Keeps on whose behalf a request is answered. */
export function noteAccess(request: Noted, known: Access): void {
  request[access] = known;
}

/** What {@link noteAccess} kept; `undefined` where nobody was let in, or with the token of a session. */
export function accessOf(request: Noted): Access | undefined {
  return request[access];
}

/** Keeps the API key that a request depends on: its own, or the one that the token in its address was handed out to. */
export function noteKeyId(request: Noted, id: string): void {
  request[keyId] = id;
}

/** Returns what {@link noteKeyId} kept. */
export function keyIdOf(request: Noted): string | undefined {
  return request[keyId];
}

/** Operations by method and route. */
const operations: ReadonlyMap<string, string> = new Map(
  Object.values<Endpoint>(contract).map(({ method, operationId, path }) => [`${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`, operationId]),
);

/**
 * The operation that a request asks for, one of a few hundred names: `profiles.get`. Other routes are `other`, and what fits none is `none`.
 * Known once {@link noteRoute} was called.
 */
export function operationOf(request: Noted): string {
  const url = request[route];
  if (url === undefined) return "none";
  const method = request.method === "HEAD" ? "GET" : (request.method ?? "");
  return operations.get(`${method} ${url}`) ?? "other";
}
