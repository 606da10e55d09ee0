import type * as endpoints from "@shoal/contract";
import { noLogin } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { type Handlers, ServiceError } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Connections } from "../connections/connections.ts";
import { toStateEvent } from "../connections/flow-view.ts";
import { type LoginPages, writerOf } from "../connections/handlers.ts";
import { followLogin } from "./follow-login.ts";
import type { Logins } from "./logins.ts";

type LoginEndpoints = Pick<typeof endpoints, "startLogin" | "submitLogin" | "followLogin" | "cancelLogin">;

export interface LoginHandlerParts {
  readonly connections: Connections;
  readonly database: Pick<Database, "onChange">;
  readonly logins: Logins;
  readonly loginPages: LoginPages;
}

export function loginHandlers({
  connections,
  database,
  loginPages,
  logins,
}: LoginHandlerParts): Handlers<LoginEndpoints, Access> {
  return {
    async startLogin({ params, body, context }) {
      const connection = await connections.withWishes(writerOf(context), params.id, body);
      const flow = await logins.start(connection, "login");
      return {
        id: connection.id,
        flow_type: "LOGIN",
        flow_expires_at: flow.expires_at ?? flow.created_at,
        ...loginPages.handedOut(flow, context),
      };
    },
    async submitLogin({ params, body, context }) {
      await logins.submit(await connections.existing(context.projectId, params.id), body);
      return { accepted: true };
    },
    async cancelLogin({ params, context }) {
      await logins.cancel((await connections.existing(context.projectId, params.id)).id);
    },
    async followLogin({ params, context, signal }) {
      const { flow_id: id, id: connectionId } = await connections.existing(context.projectId, params.id);
      if (id === null) throw ServiceError.of(noLogin(connectionId));
      return followLogin({
        signal,
        async look() {
          const flow = await logins.flows.find(id);
          const connection = flow && (await connections.store.find(context.projectId, connectionId));
          return connection && toStateEvent(flow, loginPages.of(flow, context), connection.post_login_url);
        },
        onChange: (listener) =>
          database.onChange((change) => {
            if (change === undefined || (change.table === "auth_flows" && change.id === id)) listener();
          }),
      });
    },
  };
}
