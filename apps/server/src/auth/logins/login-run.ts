import { type Answer, answerMs, EnteredValues, type FlowInput } from "@shoal/contract/logins";
import {
  allowedHosts,
  type Login,
  type LoginModel,
  type LoginNeed,
  type LoginOutcome,
  type LoginPage,
  type LoginPlan,
} from "@shoal/login";
import { Bell, createId, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import type { SignInBrowsers } from "../../sessions/live-view/sign-in-browsers.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { type FlowRow, type FlowStore, stateOf } from "../flows/flow-store.ts";
import { saveEntered } from "./entered-values.ts";
import { LoginBrowser, type LoginBrowserParts } from "./login-browser.ts";
import { LoginNeeds } from "./login-needs.ts";
import { LoginValues, type LoginValuesParts } from "./login-values.ts";
import type { SignIn } from "./sign-in.ts";

export interface LoginRunParts extends LoginBrowserParts, LoginValuesParts {
  readonly credentials: Pick<Credentials, "create" | "delete" | "get" | "open" | "update">;
  readonly connections: Pick<ConnectionStore, "addCredential" | "find" | "update">;
  readonly envelopes: Pick<Envelopes, "unseal">;
  readonly flows: FlowStore;
  readonly model: LoginModel | undefined;
  readonly signIn: SignIn;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteTyped">;
  readonly log: Log;
}

/** While a person acts outside of the form, the page is read again after this time. */
const lookMs = 2_000;
/** Pauses before a site that cannot be reached is tried again. */
const retryPausesMs = [2_000, 8_000] as const;
const maxPlanBytes = 256 * 1024;
/** With growing pauses, for 25 seconds in all. */
const maxRewrites = 8;

/** The place of a sealed answer. */
export function answerPlace(projectId: string, flowId: string) {
  return { projectId, id: flowId, field: "auth_flows.answer" };
}

/** Runs one login from its first page to its end. Its row is the only way to it: every server can answer or cancel. */
export class LoginRun {
  /** Never rejects. */
  readonly done: Promise<void>;
  readonly #parts: LoginRunParts;
  readonly #connection: ConnectionRow;
  readonly #flow: FlowRow;
  readonly #bell = new Bell();
  readonly #over = new AbortController();
  readonly #entered = new EnteredValues();
  readonly #needs = new LoginNeeds();
  readonly #clock: NodeJS.Timeout;

  constructor(parts: LoginRunParts, connection: ConnectionRow, flow: FlowRow) {
    this.#parts = parts;
    this.#connection = connection;
    this.#flow = flow;
    this.#clock = setTimeout(() => void this.#record({ kind: "clock" }), this.#leftMs() + 1);
    this.done = this.#run().finally(() => {
      clearTimeout(this.#clock);
    });
  }

  /** Call when the row has changed. */
  async noteChange(): Promise<void> {
    this.#bell.ring();
    const row = await this.#parts.flows.find(this.#flow.id);
    if (row?.status !== "IN_PROGRESS") this.stop();
  }

  /** Ends the browser. The row stays as it is. */
  stop(): void {
    this.#over.abort(new Error("The login is over."));
    this.#bell.ring();
  }

  async #run(): Promise<void> {
    const { log } = this.#parts;
    let browser: LoginBrowser | undefined;
    try {
      browser = await this.#openBrowser();
      const outcome = await this.#signIn(browser);
      if (outcome !== undefined) await this.#finish(browser, outcome);
    } catch (error) {
      if (!this.#over.signal.aborted) {
        log.warn({ flow_id: this.#flow.id, err: error }, "a login failed");
        await this.#record({ kind: "failed", ...failureOf(error) });
      }
    } finally {
      await browser?.end();
    }
  }

  async #openBrowser(): Promise<LoginBrowser> {
    const { signal } = this.#over;
    const maxSeconds = Math.ceil(this.#leftMs() / 1000) + 60;
    const browser = await LoginBrowser.open(this.#parts, this.#connection, {
      maxSeconds,
      signal,
      signsIn: true,
      waitsForProfile: true,
    });
    void browser.ended.then(() => {
      this.#bell.ring();
    });
    try {
      await this.#parts.flows.note(this.#flow.id, {
        session_id: browser.sessionId,
        telemetry_captured: browser.capturesTelemetry,
        ...(browser.replayId !== undefined && { replay_id: browser.replayId }),
      });
    } catch (error) {
      await browser.end();
      throw error;
    }
    return browser;
  }

  /** @returns `undefined` when the login is over: answered too late, or cancelled. */
  async #signIn(browser: LoginBrowser): Promise<LoginOutcome | undefined> {
    const { flows } = this.#parts;
    const { signal } = this.#over;
    const values = await LoginValues.open(this.#parts, this.#connection, signal);
    if (values.note !== undefined) await flows.note(this.#flow.id, { note: values.note });
    const { allowed_domains, domain, plan } = this.#connection;
    for (let attempt = 0; ; attempt += 1) {
      const options = {
        page: this.#guarded(browser, signal),
        startUrl: this.#startUrl(),
        hosts: allowedHosts(domain, allowed_domains),
        values: values.stored,
        storedOrigins: values.origins,
        provider: values.ssoProvider,
        // `#finish` wrote it.
        plan: (plan as unknown as LoginPlan | null) ?? undefined,
        model: this.#parts.model,
      };
      const login = this.#parts.signIn.login(options, { connection: this.#connection, signal });
      const outcome = await this.#untilDecided(login, browser);
      const pauseMs = retryPausesMs[attempt];
      const isUnreachable = outcome?.kind === "failed" && outcome.code === "network_error";
      if (!isUnreachable || pauseMs === undefined || login.state.sent !== undefined) return outcome;
      await delay(pauseMs, undefined, { signal });
    }
  }

  /** Closes the browser to others before the first value is typed. */
  #guarded(browser: LoginBrowser, signal: AbortSignal): LoginPage {
    const page = browser.page(signal);
    return {
      read: (status) => page.read(status),
      settle: (wishes) => page.settle(wishes),
      act: (act) => {
        if (act.kind === "fill" || act.kind === "authenticate" || act.kind === "select")
          this.#parts.signInBrowsers.noteTyped(browser.sessionId, act.origins === undefined ? "entered" : "stored");
        return page.act(act);
      },
    };
  }

  #startUrl(): string {
    return this.#connection.login_url ?? `https://${this.#connection.domain}/`;
  }

  async #untilDecided(login: Pick<Login, "run">, browser: LoginBrowser): Promise<LoginOutcome | undefined> {
    let outcome = await login.run();
    while (outcome.kind === "needs") {
      const answer = await this.#ask(outcome, browser);
      if (answer === undefined) return undefined;
      if (answer !== "look") this.#entered.add(answer);
      this.#needs.add(outcome, answer);
      outcome = await login.run(answer === "look" ? {} : answer);
    }
    return outcome;
  }

  /** @returns `look` when the page may have changed without an answer. */
  async #ask(need: LoginNeed, browser: LoginBrowser): Promise<Answer | "look" | undefined> {
    const { kind: _kind, ...question } = need;
    await this.#change({ kind: "needs", question, interactionId: createId() });
    const isEnded = isSettled(browser.ended);
    for (;;) {
      const answer = await this.#takeAnswer();
      if (answer !== undefined) return answer;
      if (await isEnded()) throw new BrowserEnded();
      await this.#change({ kind: "clock" });
      const row = await this.#parts.flows.find(this.#flow.id);
      if (row?.status !== "IN_PROGRESS") return undefined;
      const leftMs = Math.max(0, (stateOf(row).askedAtMs ?? Date.now()) + answerMs - Date.now()) + 1;
      const rang = await this.#bell.wait(need.external === undefined ? leftMs : Math.min(leftMs, lookMs));
      if (!rang && need.external !== undefined) return "look";
    }
  }

  async #takeAnswer(): Promise<Answer | undefined> {
    const sealed = await this.#parts.flows.takeAnswer(this.#flow.id);
    if (sealed === undefined) return undefined;
    const place = answerPlace(this.#connection.project_id, this.#flow.id);
    // `Logins.submit` sealed it.
    return JSON.parse(await this.#parts.envelopes.unseal(sealed, place)) as Answer;
  }

  async #finish(browser: LoginBrowser, outcome: LoginOutcome): Promise<void> {
    const row = await this.#parts.flows.find(this.#flow.id);
    if (row?.status !== "IN_PROGRESS") return;
    if (outcome.kind !== "signed_in") {
      if (outcome.kind === "failed") await this.#record({ kind: "failed", ...explained(outcome) });
      return;
    }
    if (!(await browser.endSaving())) {
      const message = "The login succeeded, but the profile could not be saved. Start the login again.";
      await this.#record({ kind: "failed", code: "internal_error", message });
      return;
    }
    await this.#keep(outcome.plan);
    await this.#record({ kind: "signed_in", url: outcome.url });
  }

  /** Before the login succeeds, so that clients that see the success see these, too. */
  async #keep(plan: LoginPlan): Promise<void> {
    const { connections, flows, log } = this.#parts;
    try {
      const text = storableJson(plan);
      await connections.update(this.#connection.id, {
        needs: storableJson(this.#needs.stored(plan)),
        ...(text.length <= maxPlanBytes && { plan: text }),
      });
      await saveEntered(this.#parts, this.#connection, this.#entered);
    } catch (error) {
      log.warn({ flow_id: this.#flow.id, err: error }, "the values of a login could not be saved");
      await flows.note(this.#flow.id, { note: `The entered values could not be saved: ${messageOf(error)}` });
    }
  }

  async #change(input: FlowInput): Promise<void> {
    await this.#parts.flows.change(this.#flow.id, input, Date.now());
  }

  /** Repeats a write during a database outage. A row that could not be written expires for its readers. Never rejects. */
  async #record(input: FlowInput): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#change(input);
        return;
      } catch (error) {
        this.#parts.log.warn(
          { flow_id: this.#flow.id, attempt, err: error },
          "the row of a login could not be written",
        );
        if (attempt === maxRewrites || this.#over.signal.aborted) return;
        await delay(100 * 2 ** attempt, undefined, { ref: false });
      }
    }
  }

  #leftMs(): number {
    return Math.max(0, stateOf(this.#flow).expiresAtMs - Date.now());
  }
}

function storableJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(String.raw`\u0000`, "")
    .toWellFormed();
}

class BrowserEnded extends Error {}

function isSettled(promise: Promise<unknown>): () => Promise<boolean> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  promise.then(mark, mark);
  return async () => {
    await Promise.resolve();
    return settled;
  };
}

function explained({ code, message }: Extract<LoginOutcome, { kind: "failed" }>) {
  if (code === "credentials_invalid")
    return { code, message: "The site refused the stored credentials.", websiteError: message };
  return code === "website_error" ? { code, message, websiteError: message } : { code, message };
}

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (ServiceError.isInstance(error) && error.status < 500) return { code: "browser_error", message: error.message };
  return { code: "browser_error", message: "The browser of the login ended or did not answer. Start the login again." };
}
