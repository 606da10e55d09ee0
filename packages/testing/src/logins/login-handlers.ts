import type * as endpoints from "@shoal/contract";
import { connectionNotFound, loginInProgress, noLogin } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import type { Access } from "../state/access.ts";
import type { ConnectionRow, Store } from "../state/store.ts";
import { checkLogin } from "./check-login.ts";
import { FakeLogins } from "./fake-logins.ts";
import { exchange, handoffCode, hostedUrl } from "./handoff.ts";
import { followLogin } from "./login-answers.ts";

type LoginEndpoints = Pick<
  typeof endpoints,
  "startLogin" | "submitLogin" | "followLogin" | "cancelLogin" | "checkConnection" | "exchangeHandoff"
>;

export function loginHandlers(store: Store): Handlers<LoginEndpoints, Access> {
  const logins = new FakeLogins(store);

  function existing({ projectId }: Access, id: string): ConnectionRow {
    const found = store.connections.find((row) => row.projectId === projectId && row.id === id);
    if (found === undefined) throw ServiceError.of(connectionNotFound(id));
    return found;
  }

  return {
    startLogin: ({ params, context }) => {
      const connection = existing(context, params.id);
      const login = logins.start(connection);
      return {
        id: connection.id,
        flow_type: "LOGIN",
        hosted_url: hostedUrl({ connection, login }, context.baseUrl),
        handoff_code: handoffCode(login),
        flow_expires_at: new Date(login.state.expiresAtMs).toISOString(),
      };
    },
    submitLogin: ({ params, body, context }) => {
      logins.submit(existing(context, params.id), body);
      return { accepted: true };
    },
    cancelLogin: ({ params, context }) => {
      logins.cancel(existing(context, params.id));
    },
    checkConnection: ({ params, context }) => {
      const connection = existing(context, params.id);
      if (logins.running(connection) !== undefined) throw ServiceError.of(loginInProgress(connection.id));
      return checkLogin(connection);
    },
    exchangeHandoff: ({ params, body }) => exchange(store, params.id, body.code),
    followLogin: ({ params, context, signal }) => {
      const connection = existing(context, params.id);
      const login = connection.logins.at(-1);
      if (login === undefined) throw ServiceError.of(noLogin(connection.id));
      return followLogin(login, connection, { baseUrl: context.baseUrl, signal });
    },
  };
}
