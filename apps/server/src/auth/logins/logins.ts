import { answerTo } from "@shoal/contract/logins";
import { loginAsksNothing, noLogin, unfitAnswer } from "@shoal/contract/refusals";
import type { Change, Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { SubmitLogin } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { requireMember } from "../../storage/errors/require-member.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import { type FlowRow, FlowStore, stateOf } from "../flows/flow-store.ts";
import { answerPlace, LoginRun, type LoginRunParts } from "./login-run.ts";

export interface LoginsParts extends Omit<LoginRunParts, "flows" | "envelopes"> {
  readonly database: Pick<Database, "onChange" | "query">;
  readonly envelopes: Pick<Envelopes, "seal" | "unseal">;
  readonly serverId: string;
  /** True while the other servers may have declared this server dead. */
  readonly isDoubtful: () => boolean;
}

/** Logins of connections. A server runs the logins that it starts; every server can answer, cancel and follow all. */
export class Logins {
  readonly flows: FlowStore;
  readonly #parts: LoginsParts;
  readonly #runs = new Map<string, LoginRun>();
  readonly #unlisten: () => void;
  #isClosed = false;

  private constructor(parts: LoginsParts) {
    this.#parts = parts;
    this.flows = new FlowStore(parts.database);
    this.#unlisten = parts.database.onChange((change) => {
      this.#onChange(change);
    });
  }

  /** The server must be registered. */
  static async open(parts: LoginsParts): Promise<Logins> {
    const logins = new Logins(parts);
    const lost = await logins.flows.endLost(parts.serverId);
    if (lost > 0) parts.log.warn({ logins: lost }, "ended logins of an earlier run that did not stop properly");
    return logins;
  }

  /** @param connection - with the settings of this login. @throws {ServiceError} 409 while another one runs, 503. */
  async start(connection: ConnectionRow, type: "login" | "reauth"): Promise<FlowRow> {
    requireMember("logins", { isClosed: this.#isClosed, isDoubtful: this.#parts.isDoubtful() });
    const wanted = { connectionId: connection.id, type, serverId: this.#parts.serverId };
    const flow = await this.flows.start(wanted, Date.now());
    const run = new LoginRun({ ...this.#parts, flows: this.flows }, connection, flow);
    this.#runs.set(flow.id, run);
    void run.done.then(() => this.#runs.delete(flow.id));
    return flow;
  }

  /** Hands an answer to the server of the login. @throws {ServiceError} 404 without a login, 422 if it does not fit. */
  async submit(
    connection: Pick<ConnectionRow, "id" | "project_id">,
    given: z.output<typeof SubmitLogin>,
  ): Promise<void> {
    const row = await this.flows.running(connection.id);
    const state = row && stateOf(row);
    if (row === undefined || state === undefined || state.expiresAtMs <= Date.now())
      throw ServiceError.of(noLogin(connection.id));
    const { interactionId, question } = state;
    if (question === undefined || interactionId === undefined) throw ServiceError.of(loginAsksNothing(connection.id));
    const answer = answerTo(question, interactionId, given);
    if ("problem" in answer) throw ServiceError.of(unfitAnswer(answer));
    const place = answerPlace(connection.project_id, row.id);
    const sealed = await this.#parts.envelopes.seal(JSON.stringify(answer), place);
    const isAccepted = await this.flows.change(row.id, { kind: "answered", interactionId }, Date.now(), sealed);
    if (isAccepted !== true) throw ServiceError.of(loginAsksNothing(connection.id));
  }

  /** Ends the running login. @returns whether there was one. */
  async cancel(connectionId: string): Promise<boolean> {
    const row = await this.flows.running(connectionId);
    return row !== undefined && (await this.flows.change(row.id, { kind: "canceled" }, Date.now())) === true;
  }

  /** Fails the logins of this server, and ends their browsers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unlisten();
    const message = "The server that ran the login has stopped. Start the login again.";
    const ends = [...this.#runs].map(async ([id, run]) => {
      await this.flows
        .change(id, { kind: "failed", code: "internal_error", message }, Date.now())
        .catch((error: unknown) => {
          this.#parts.log.warn({ flow_id: id, err: error }, "the end of a login could not be written");
        });
      run.stop();
      await run.done;
    });
    await Promise.all(ends);
  }

  #onChange(change: Change | undefined): void {
    if (change !== undefined && change.table !== "auth_flows") return;
    const runs = change === undefined ? [...this.#runs.values()] : [this.#runs.get(change.id)];
    for (const run of runs)
      run?.noteChange().catch((error: unknown) => {
        this.#parts.log.debug({ err: error }, "the row of a login could not be read");
      });
  }
}
