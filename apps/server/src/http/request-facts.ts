import { contract, type Endpoint } from "@shoal/contract";
import type { IncomingMessage } from "node:http";
import type { Access } from "./auth/access.ts";

const route = Symbol("route");
const access = Symbol("access");
const keyId = Symbol("key id");

interface Noted extends IncomingMessage {
  [route]?: string | undefined;
  [access]?: Access;
  [keyId]?: string;
}

export function noteRoute(request: Noted, url: string | undefined): void {
  request[route] = url;
}

export function noteAccess(request: Noted, known: Access): void {
  request[access] = known;
}

/** `undefined` if the request was refused or has a session's token. */
export function accessOf(request: Noted): Access | undefined {
  return request[access];
}

/** The request's own key, or the key that issued the token in its URL. */
export function noteKeyId(request: Noted, id: string): void {
  request[keyId] = id;
}

export function keyIdOf(request: Noted): string | undefined {
  return request[keyId];
}

const operations: ReadonlyMap<string, string> = new Map(
  Object.values<Endpoint>(contract).map(({ method, operationId, path }) => [
    `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
    operationId,
  ]),
);

/** `profiles.get`; `other` for other routes, `none` if no route matches. Call {@link noteRoute} first. */
export function operationOf(request: Noted): string {
  const url = request[route];
  if (url === undefined) return "none";
  const method = request.method === "HEAD" ? "GET" : (request.method ?? "");
  return operations.get(`${method} ${url}`) ?? "other";
}
