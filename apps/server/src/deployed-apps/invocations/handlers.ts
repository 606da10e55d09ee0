import type * as endpoints from "@shoal/contract";
import type { Database } from "@shoal/database";
import { type Handlers, slowJson, withStatus } from "@shoal/router";
import type { InvocationEvent } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import { type SessionSigner, toBrowser } from "../../sessions/browsers/handlers.ts";
import type { InvokedSessions } from "../../sessions/browsers/invoked-sessions.ts";
import { sinceOf } from "../../storage/moment.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import { followEvents } from "../logs/follow-events.ts";
import { InvocationStates } from "./invocation-states.ts";
import { toCreated, toInvocation } from "./invocation-view.ts";
import type { Invocations } from "./invocations.ts";

type InvocationEndpoints = Pick<
  typeof endpoints,
  | "createInvocation"
  | "listInvocations"
  | "getInvocation"
  | "updateInvocation"
  | "followInvocation"
  | "listInvocationBrowsers"
  | "deleteInvocationBrowsers"
>;

/** The vendor's client waits 60 s for headers, then repeats the request. */
const answerTimes = { headersAfterMs: 20_000, spaceEveryMs: 10_000 };

export interface InvocationHandlerParts {
  readonly database: Pick<Database, "onChange">;
  readonly invocations: Invocations;
  readonly invokedSessions: InvokedSessions;
  readonly appLogs: AppLogs;
  readonly signer: SessionSigner;
}

export function invocationHandlers(parts: InvocationHandlerParts): Handlers<InvocationEndpoints, Access> {
  const { appLogs, database, invocations, invokedSessions, signer } = parts;
  return {
    async createInvocation({ body, context, headers }) {
      const { row, ended } = await invocations.create(context.projectId, body);
      if (row.is_async) return withStatus(202, toCreated(row, await invocations.store.positionOf(row)));
      const created = ended.then((last) => toCreated(last));
      // A repetition with the key gets the stored answer, which early headers would not have.
      return headers["idempotency-key"] === undefined ? slowJson(created, answerTimes) : created;
    },
    listInvocations: ({ query, context }) => invocations.list(context.projectId, query),
    async getInvocation({ params, context }) {
      const row = await invocations.get(context.projectId, params.id);
      return toInvocation(row, await invocations.store.positionOf(row));
    },
    updateInvocation: async ({ params, body, context }) =>
      toInvocation(await invocations.update(context.projectId, params.id, body)),
    async followInvocation({ params, query, context, lastEventId, signal }) {
      const { id } = await invocations.get(context.projectId, params.id);
      const states = new InvocationStates(invocations.store, id);
      return followEvents<InvocationEvent>({
        logs: appLogs,
        owner: { invocation_id: id },
        since: sinceOf(query.since),
        lastEventId,
        signal,
        look: () => states.look(),
        onChange: (listener) =>
          database.onChange((change) => {
            if (change === undefined || (change.table === "invocations" && change.id === id)) listener();
          }),
      });
    },
    async listInvocationBrowsers({ params, context }) {
      const { id } = await invocations.get(context.projectId, params.id);
      const views = await invokedSessions.list(id);
      return { browsers: await Promise.all(views.map((view) => toBrowser(view, context, signer))) };
    },
    async deleteInvocationBrowsers({ params, context }) {
      const { id } = await invocations.get(context.projectId, params.id);
      await invokedSessions.end(id);
    },
  };
}
