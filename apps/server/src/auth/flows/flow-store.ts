import {
  firstState,
  type FlowInput,
  type FlowState,
  type FlowStatus,
  nextState,
  type Question,
} from "@shoal/contract/logins";
import { loginInProgress } from "@shoal/contract/refusals";
import type { AuthFlowsTable, Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { type Selectable, sql, type Transaction, type Updateable } from "kysely";
import { oneIntervalFromNow } from "./check-times.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { emitFlowEvent } from "./flow-events.ts";

export type FlowRow = Selectable<AuthFlowsTable>;

export interface NewFlow {
  readonly connectionId: string;
  readonly type: "login" | "reauth";
  readonly serverId: string;
}

const maxTexts = 100;
const maxLength = 1024;

/** Texts come from sites: PostgreSQL cannot store NUL characters and lone surrogates. */
export const storable = (text: string): string => text.slice(0, maxLength).replaceAll("\0", "\uFFFD").toWellFormed();

function storedQuestion({ choices, fields, ...rest }: Question): Question {
  const bounded = { fields: fields.slice(0, maxTexts), choices: choices.slice(0, maxTexts), ...rest };
  const text = JSON.stringify(bounded, (_key, value: unknown) => (typeof value === "string" ? storable(value) : value));
  return JSON.parse(text) as Question;
}

const at = (ms: number): Date => new Date(ms);

/** The state that a row stores. Logins always have a step and a deadline. */
export function stateOf(row: FlowRow): FlowState {
  return {
    status: row.status as FlowStatus,
    step: row.step ?? "DISCOVERING",
    expiresAtMs: Date.parse(row.expires_at ?? row.created_at),
    // `change` wrote it.
    ...(row.question !== null && { question: row.question as unknown as Question }),
    ...(row.interaction_id !== null && { interactionId: row.interaction_id }),
    ...(row.asked_at !== null && { askedAtMs: Date.parse(row.asked_at) }),
  };
}

function columnsOf({ askedAtMs, error, interactionId, question, status, step }: FlowState) {
  return {
    status,
    step,
    question: question === undefined ? null : JSON.stringify(question),
    interaction_id: interactionId ?? null,
    asked_at: askedAtMs === undefined ? null : at(askedAtMs),
    ...(error && {
      error_code: error.code,
      error_message: storable(error.message),
      website_error: error.websiteError === undefined ? null : storable(error.websiteError),
    }),
  };
}

/** The rows of logins. Concurrent changes of one login follow each other. */
export class FlowStore {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** Starts a login, after the end of one whose time is over. @throws {ServiceError} 409 while another one runs. */
  async start({ connectionId, serverId, type }: NewFlow, nowMs: number): Promise<FlowRow> {
    const running = await this.running(connectionId);
    if (running !== undefined) await this.change(running.id, { kind: "clock" }, nowMs);
    const first = firstState(nowMs);
    try {
      return await this.#query.transaction().execute(async (transaction) => {
        const row = await transaction
          .insertInto("auth_flows")
          .values({
            id: createId(),
            connection_id: connectionId,
            type,
            server_id: serverId,
            expires_at: at(first.expiresAtMs),
            ...columnsOf(first),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        await transaction
          .updateTable("auth_connections")
          .set({ flow_id: row.id })
          .where("id", "=", connectionId)
          .execute();
        return row;
      });
    } catch (error) {
      throw isUniqueViolation(error, "auth_flows_running") ? ServiceError.of(loginInProgress(connectionId)) : error;
    }
  }

  find(id: string): Promise<FlowRow | undefined> {
    return this.#query.selectFrom("auth_flows").selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** Stores facts about a login that are not part of its state. */
  async note(
    id: string,
    facts: Pick<Updateable<AuthFlowsTable>, "note" | "replay_id" | "session_id" | "telemetry_captured">,
  ): Promise<void> {
    const note = facts.note === undefined || facts.note === null ? facts.note : storable(facts.note);
    await this.#query
      .updateTable("auth_flows")
      .set({ ...facts, ...(note !== undefined && { note }) })
      .where("id", "=", id)
      .execute();
  }

  running(connectionId: string): Promise<FlowRow | undefined> {
    return this.#query
      .selectFrom("auth_flows")
      .selectAll()
      .where("connection_id", "=", connectionId)
      .where("status", "=", "IN_PROGRESS")
      .executeTakeFirst();
  }

  /**
   * Applies an input under the lock of the row.
   * @param sealedAnswer - stored with an accepted answer, for the server of the login.
   * @returns whether the state changed; `undefined` when the login was deleted.
   */
  change(id: string, input: FlowInput, nowMs: number, sealedAnswer?: Buffer): Promise<boolean | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("auth_flows")
        .selectAll()
        .where("id", "=", id)
        .forUpdate()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const given = input.kind === "needs" ? { ...input, question: storedQuestion(input.question) } : input;
      const before = stateOf(row);
      const state = nextState(before, given, nowMs);
      if (state === before) return false;
      const isAccepted = input.kind === "answered" && state.step === "SUBMITTING";
      await transaction
        .updateTable("auth_flows")
        .set({ ...columnsOf(state), answer: isAccepted ? (sealedAnswer ?? null) : null, updated_at: at(nowMs) })
        .where("id", "=", id)
        .execute();
      if (state.status === "SUCCESS") await signIn(transaction, row.connection_id, { state, nowMs });
      await emitFlowEvent(transaction, row, { before, state });
      return input.kind !== "answered" || isAccepted;
    });
  }

  /** Takes the answer, so that it acts once. */
  takeAnswer(id: string): Promise<Buffer | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("auth_flows")
        .select("answer")
        .where("id", "=", id)
        .where("answer", "is not", null)
        .forUpdate()
        .executeTakeFirst();
      if (row !== undefined)
        await transaction.updateTable("auth_flows").set({ answer: null }).where("id", "=", id).execute();
      return row?.answer ?? undefined;
    });
  }

  /** Fails the logins of a server that has stopped: their browsers ended with it. @returns their number. */
  async endLost(serverId: string): Promise<number> {
    const { rows } = await sql<{ lost: number }>`select shoal_lose_logins(${serverId}) as lost`.execute(this.#query);
    return rows[0]?.lost ?? 0;
  }
}

async function signIn(
  transaction: Transaction<Tables>,
  connectionId: string,
  { nowMs, state }: { readonly state: FlowState; readonly nowMs: number },
): Promise<void> {
  await transaction
    .updateTable("auth_connections")
    .set({
      status: "AUTHENTICATED",
      signed_in_at: at(nowMs),
      next_check_at: oneIntervalFromNow,
      ...(state.postLoginUrl !== undefined && { post_login_url: storable(state.postLoginUrl) }),
    })
    .where("id", "=", connectionId)
    .execute();
}
