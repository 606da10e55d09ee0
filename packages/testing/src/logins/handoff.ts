import { handoffExpired, handoffTokenExpired, handoffUnknown } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { ExchangedHandoff } from "@shoal/schemas";
import type { IncomingHttpHeaders } from "node:http";
import type { Access } from "../state/access.ts";
import type { LoginRow } from "../state/logins.ts";
import type { ConnectionRow, Store } from "../state/store.ts";

/** A page under development sends its code twice. */
const repeatMs = 10_000;
/** The page shows the end of a login for this time. */
const afterEndMs = 5 * 60_000;
const tokenPrefix = "page-token.";

interface HandedLogin {
  readonly connection: ConnectionRow;
  readonly login: LoginRow;
}

/** The same code until it is exchanged. */
export function handoffCode({ handoffs, id, secret }: LoginRow): string {
  return `${id}.${String(handoffs)}.${secret}`;
}

/** Page on which a person completes the login. The fake does not serve it. */
export function hostedUrl({ connection, login }: HandedLogin, baseUrl: string): string {
  return `${baseUrl}/auth/sign-in/${connection.id}?code=${handoffCode(login)}`;
}

function loginOf(store: Store, connectionId: string, loginId: string | undefined): HandedLogin | undefined {
  const connection = store.connections.find(({ id }) => id === connectionId);
  const login = connection?.logins.find(({ id }) => id === loginId);
  return connection && login && { connection, login };
}

/** @throws {ServiceError} 404 for an unknown code, 410 for a used or expired one. */
export function exchange(store: Store, connectionId: string, code: string): ExchangedHandoff {
  const [loginId, number, secret] = code.split(".");
  const { login } = loginOf(store, connectionId, loginId) ?? {};
  if (login === undefined || login.secret !== secret) throw ServiceError.of(handoffUnknown());
  const isUsed = number !== String(login.handoffs);
  if (login.state.status === "SUCCESS") throw ServiceError.of(handoffExpired(isUsed ? "used" : "ended"));
  if (login.state.status !== "IN_PROGRESS")
    throw ServiceError.of(handoffExpired(login.state.status === "EXPIRED" ? "expired" : "ended"));
  const nowMs = Date.now();
  if (number === String(login.handoffs)) {
    login.handoffs += 1;
    login.handedOffAtMs = nowMs;
  } else if (number !== String(login.handoffs - 1) || nowMs - login.handedOffAtMs > repeatMs)
    throw ServiceError.of(handoffExpired("used"));
  return { invocation_id: login.id, jwt: `${tokenPrefix}${login.id}.${login.secret}` };
}

/**
 * The access of a page with the token of a login; `undefined` for other callers.
 * @param path - of the request.
 * @throws {ServiceError} 401 for another connection, and some minutes after the end of the login.
 */
export function pageAccess(store: Store, headers: IncomingHttpHeaders, path: string): Access | undefined {
  const token = /^bearer (.*)$/i.exec(headers.authorization ?? "")?.[1]?.trim();
  if (token?.startsWith(tokenPrefix) !== true) return undefined;
  const [loginId, secret] = token.slice(tokenPrefix.length).split(".");
  const { connection, login } = loginOf(store, /^\/auth\/connections\/([^/?]+)/.exec(path)?.[1] ?? "", loginId) ?? {};
  const isOver =
    login !== undefined &&
    login.state.status !== "IN_PROGRESS" &&
    Date.now() >= Date.parse(login.updatedAt) + afterEndMs;
  if (connection === undefined || login?.secret !== secret || connection.logins.at(-1) !== login || isOver)
    throw ServiceError.of(handoffTokenExpired());
  return {
    key: store.adminKey,
    projectId: connection.projectId,
    namedProjectId: undefined,
    baseUrl: `http://${headers.host ?? "shoal.test"}`,
  };
}
