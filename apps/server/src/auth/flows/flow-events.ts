import type { FlowState } from "@shoal/contract/logins";
import type { Tables } from "@shoal/database";
import type { Transaction } from "kysely";
import { emitEvent } from "../../storage/events/emit-event.ts";

/** Of the fields and of the choices of a question; a page with more is not a login. */
const maxShown = 20;

/** Sends what a change of a login means to the webhooks of the project. Contains no answers and no codes. */
export async function emitFlowEvent(
  transaction: Transaction<Tables>,
  { connection_id, id: flow_id }: { readonly connection_id: string; readonly id: string },
  { before, state }: { readonly before: FlowState; readonly state: FlowState },
): Promise<void> {
  const { interactionId, question } = state;
  const asks = question !== undefined && interactionId !== before.interactionId;
  if (!asks && state.status !== "SUCCESS") return;
  const connection = await transaction
    .selectFrom("auth_connections")
    .innerJoin("profiles", "profiles.id", "auth_connections.profile_id")
    .select(["auth_connections.project_id", "auth_connections.domain", "profiles.name as profile_name"])
    .where("auth_connections.id", "=", connection_id)
    .executeTakeFirst();
  if (connection === undefined) return;
  const { project_id, ...names } = connection;
  const about = { connection_id, ...names, flow_id };
  await (asks
    ? emitEvent(transaction, project_id, {
        type: "auth.needs_human",
        data: {
          ...about,
          needs: state.step === "AWAITING_EXTERNAL_ACTION" ? "external_action" : "input",
          fields: question.fields.slice(0, maxShown).map(({ kind, label }) => ({ type: kind, label })),
          choices: question.choices.slice(0, maxShown).map(({ label, type }) => ({ type, label })),
        },
      })
    : emitEvent(transaction, project_id, { type: "auth.signed_in", data: about }));
}
