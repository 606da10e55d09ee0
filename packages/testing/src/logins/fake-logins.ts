import {
  type Answer,
  answerMs,
  answerTo,
  EnteredValues,
  firstState,
  type FlowInput,
  nameOfEntered,
  nextState,
  type Question,
} from "@shoal/contract/logins";
import { loginAsksNothing, loginInProgress, noLogin, unfitAnswer } from "@shoal/contract/refusals";
import { createId, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { SubmitLogin } from "@shoal/schemas";
import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type * as z from "zod/mini";
import { EventLog } from "../files/event-log.ts";
import type { FakeAnswer, LoginRow } from "../state/logins.ts";
import type { ConnectionRow, CredentialRow, Store } from "../state/store.ts";
import { defaultSite } from "./default-site.ts";
import { LoginFailure, ScriptedLogin } from "./scripted-login.ts";
import { StoredValues } from "./stored-values.ts";

/** Plays the logins of connections: the sites of `fake.addSite` ask, and the state machine of the service answers. */
export class FakeLogins {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {ServiceError} 409 while another login of the connection runs. */
  start(connection: ConnectionRow): LoginRow {
    if (this.running(connection) !== undefined) throw ServiceError.of(loginInProgress(connection.id));
    const now = new Date();
    const state = firstState(now.getTime());
    const login: LoginRow = {
      id: createId(),
      createdAt: now.toISOString(),
      updatedAt: now.toISOString(),
      state,
      note: undefined,
      states: new EventLog(),
      handoffs: 0,
      handedOffAtMs: 0,
      secret: randomBytes(24).toString("base64url"),
      resume: undefined,
      over: new AbortController(),
      clock: undefined,
    };
    login.states.push(state);
    this.#wind(login);
    connection.logins.push(login);
    void this.#play(login, connection);
    return login;
  }

  running({ logins }: ConnectionRow): LoginRow | undefined {
    const latest = logins.at(-1);
    if (latest !== undefined) this.#change(latest, { kind: "clock" });
    return latest?.state.status === "IN_PROGRESS" ? latest : undefined;
  }

  /** @throws {ServiceError} 404 without a login, 422 for an answer that it does not wait for. */
  submit(connection: ConnectionRow, given: z.output<typeof SubmitLogin>): void {
    const login = this.running(connection);
    if (login === undefined) throw ServiceError.of(noLogin(connection.id));
    const { interactionId, question } = login.state;
    if (question === undefined || interactionId === undefined) throw ServiceError.of(loginAsksNothing(connection.id));
    const answer = answerTo(question, interactionId, given);
    if ("problem" in answer) throw ServiceError.of(unfitAnswer(answer));
    this.#change(login, { kind: "answered", interactionId });
    login.resume?.(toFakeAnswer(answer));
  }

  cancel(connection: ConnectionRow): void {
    const login = this.running(connection);
    if (login !== undefined) this.#change(login, { kind: "canceled" });
  }

  /** @returns whether a login waited for an action elsewhere. */
  completeAction(connection: ConnectionRow): boolean {
    const login = this.running(connection);
    if (login?.state.step !== "AWAITING_EXTERNAL_ACTION") return false;
    this.#change(login, { kind: "works" });
    login.resume?.({ values: {} });
    return true;
  }

  async #play(login: LoginRow, connection: ConnectionRow): Promise<void> {
    // The answer that starts the login comes first.
    await setImmediate();
    if (login.over.signal.aborted) return;
    const entered = new EnteredValues();
    const stored = new StoredValues(this.#store, connection);
    login.note = stored.note;
    const wait = async (question: Question): Promise<FakeAnswer> => {
      const answer = await this.#wait(login, question);
      entered.add(answer.choice === undefined ? answer : { choice: answer.choice });
      return answer;
    };
    const site = this.#store.sites.get(connection.domain) ?? defaultSite;
    try {
      const url = await site(new ScriptedLogin({ connection, signal: login.over.signal, stored, wait }));
      if (this.running(connection) !== login) return;
      this.#save(connection, entered.lasting());
      this.#change(login, { kind: "signed_in", url: url ?? `https://${connection.domain}/` });
    } catch (error) {
      const failure =
        error instanceof LoginFailure ? error.failure : { code: "flow_failed", message: messageOf(error) };
      this.#change(login, { kind: "failed", ...failure });
    }
  }

  #wait(login: LoginRow, question: Question): Promise<FakeAnswer> {
    const { signal } = login.over;
    return new Promise((resolve, reject) => {
      const onEnd = () => {
        reject(new Error("The login is over."));
      };
      signal.addEventListener("abort", onEnd, { once: true });
      login.resume = (answer) => {
        login.resume = undefined;
        signal.removeEventListener("abort", onEnd);
        resolve(answer);
      };
      this.#change(login, { kind: "needs", question, interactionId: createId() });
    });
  }

  #change(login: LoginRow, input: FlowInput): void {
    const state = nextState(login.state, input, Date.now());
    if (state === login.state) return;
    login.state = state;
    login.updatedAt = new Date().toISOString();
    login.states.push(state);
    clearTimeout(login.clock);
    if (state.status === "IN_PROGRESS") this.#wind(login);
    else {
      login.states.close();
      login.over.abort();
    }
  }

  /** Ends the login at its next deadline. */
  #wind(login: LoginRow): void {
    const { askedAtMs = Infinity, expiresAtMs } = login.state;
    const atMs = Math.min(askedAtMs + answerMs, expiresAtMs);
    login.clock = setTimeout(() => {
      this.#change(login, { kind: "clock" });
    }, atMs - Date.now());
    login.clock.unref();
  }

  #save(connection: ConnectionRow, values: Readonly<Record<string, string>>): void {
    const now = new Date().toISOString();
    connection.status = "AUTHENTICATED";
    connection.isExpired = false;
    connection.profile.updatedAt = now;
    const isWanted = connection.settings.save_credentials && connection.credentialSource === undefined;
    if (!isWanted || Object.keys(values).length === 0) return;
    connection.credential ??= this.#newCredential(connection);
    connection.credential.values = new Map([...connection.credential.values, ...Object.entries(values)]);
    connection.credential.updatedAt = now;
  }

  #newCredential({ domain, profile, projectId }: ConnectionRow): CredentialRow {
    const { credentials } = this.#store;
    const name = nameOfEntered(profile.name, domain);
    const isTaken = credentials.some((row) => row.projectId === projectId && row.name === name);
    const now = new Date().toISOString();
    const row: CredentialRow = {
      id: createId(),
      projectId,
      name: isTaken ? `${name}-${createId().slice(0, 6)}` : name,
      domain,
      sites: [],
      ssoProvider: null,
      values: new Map(),
      totp: undefined,
      createdAt: now,
      updatedAt: now,
    };
    credentials.push(row);
    return row;
  }
}

function toFakeAnswer(answer: Answer): FakeAnswer {
  return "values" in answer ? answer : { values: {}, choice: answer.choice };
}
