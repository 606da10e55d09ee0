import type * as endpoints from "@shoal/contract";
import { connectionNotFound, noLogin } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import type { Access } from "../state/access.ts";
import type { ConnectionRow, Store } from "../state/store.ts";
import { FakeLogins } from "./fake-logins.ts";
import { followLogin, hostedUrl } from "./login-answers.ts";

type LoginEndpoints = Pick<typeof endpoints, "startLogin" | "submitLogin" | "followLogin" | "cancelLogin">;

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
      const { state } = logins.start(connection);
      return {
        id: connection.id,
        flow_type: "LOGIN",
        hosted_url: hostedUrl(connection, context.baseUrl),
        flow_expires_at: new Date(state.expiresAtMs).toISOString(),
      };
    },
    submitLogin: ({ params, body, context }) => {
      logins.submit(existing(context, params.id), body);
      return { accepted: true };
    },
    cancelLogin: ({ params, context }) => {
      logins.cancel(existing(context, params.id));
    },
    followLogin: ({ params, context, signal }) => {
      const connection = existing(context, params.id);
      const login = connection.logins.at(-1);
      if (login === undefined) throw ServiceError.of(noLogin(connection.id));
      return followLogin(login, connection, { baseUrl: context.baseUrl, signal });
    },
  };
}
