import {
  type FieldKind,
  type LoginAnswers,
  type LoginFailureCode,
  type LoginNeed,
  type LoginOptions,
  type LoginOutcome,
  type LoginState,
  type NeededField,
  type PlanStep,
  valueFor,
} from "@shoal/login";
import { messageOf } from "@shoal/primitives";
import type { SignInTarget } from "@shoal/server";
import type { FakeAnswer, FakeField, FakeLogin, FakeQuestion, FakeSite } from "./sites.ts";

const labels: Readonly<Partial<Record<string, string>>> = {
  username: "Username",
  email: "E-mail",
  phone: "Phone number",
  password: "Password",
  new_password: "New password",
  otp: "Code",
  organization: "Organization",
  link: "Link from the message",
};

/** `new_password_2` is the second field of its kind. */
function kindOf(name: string): NeededField["kind"] {
  const kind = name.replace(/_\d+$/, "");
  return kind in labels ? (kind as NeededField["kind"]) : "text";
}

function toNeeded(field: string | FakeField): NeededField {
  const { label, name, required = true } = typeof field === "string" ? { name: field } : field;
  const kind = kindOf(name);
  return { name, kind, label: label ?? labels[kind] ?? name, required };
}

function toNeed({ choices = [], external, fields = [], refused }: FakeQuestion): LoginNeed {
  return {
    kind: "needs",
    fields: fields.map(toNeeded),
    // The types of choices are texts in the fake.
    choices: choices as LoginNeed["choices"],
    ...(external !== undefined && { external: { type: "push", message: external } }),
    ...(refused !== undefined && { refused }),
  };
}

/** Thrown by `fail`. */
class SiteFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const isSecret = ({ kind }: NeededField): boolean => kind === "password" || kind === "otp";

/** Plays a site of the test in place of the pages of a browser. The service runs the login around it. */
export class ScriptedLogin implements FakeLogin {
  readonly connection_id: string;
  readonly domain: string;
  readonly profile_name: string;
  readonly signal: AbortSignal;
  readonly #options: LoginOptions;
  readonly #site: FakeSite;
  readonly #used: string[] = [];
  readonly #steps: PlanStep[] = [];
  #turn: PromiseWithResolvers<LoginOutcome> | undefined;
  #asked: { readonly need: LoginNeed; readonly answer: (given: FakeAnswer) => void } | undefined;
  /** The last answer. */
  #sent: LoginState["sent"];

  constructor(site: FakeSite, options: LoginOptions, { connection, signal }: SignInTarget) {
    this.connection_id = connection.id;
    this.domain = connection.domain;
    this.profile_name = connection.profile_name ?? connection.profile_id;
    this.signal = signal;
    this.#options = options;
    this.#site = site;
  }

  get state(): LoginState {
    const plan = { start_url: this.#options.startUrl, steps: this.#steps };
    return {
      started: this.#turn !== undefined,
      steps: 0,
      seen: {},
      used: this.#used,
      pressed: [],
      waits: 0,
      plan,
      ...(this.#sent && { sent: this.#sent }),
    };
  }

  get waitsElsewhere(): boolean {
    return this.#asked?.need.external !== undefined;
  }

  /** The person acted elsewhere. The service looks every two seconds. */
  act(): void {
    this.#continue({ values: {} });
  }

  async run({ choice, values }: LoginAnswers = {}): Promise<LoginOutcome> {
    const { signal } = this;
    signal.throwIfAborted();
    const asked = this.#asked;
    if (this.#turn === undefined) {
      this.#turn = Promise.withResolvers();
      void this.#play();
    } else if (asked !== undefined) {
      // The service only looks whether something happened elsewhere.
      if (choice === undefined && values === undefined) return asked.need;
      this.#continue(choice === undefined ? { values: values ?? {} } : { values: {}, choice });
    }
    const over = Promise.withResolvers<never>();
    const onEnd = () => {
      over.reject(signal.reason as Error);
    };
    signal.addEventListener("abort", onEnd, { once: true });
    try {
      return await Promise.race([this.#turn.promise, over.promise]);
    } finally {
      signal.removeEventListener("abort", onEnd);
    }
  }

  async ask(given: FakeQuestion): Promise<FakeAnswer> {
    this.signal.throwIfAborted();
    const need = toNeed(given);
    const stored = await this.#storedFor(need);
    const fields = need.fields.flatMap(({ kind, name }) => (kind === "link" ? [] : [{ kind, name, locators: [] }]));
    if (fields.length > 0) this.#steps.push({ page: this.#options.startUrl, purpose: "login", fields });
    const missing = need.fields.filter(({ name }) => !stored.has(name));
    const asksNobody = need.fields.length > 0 && !missing.some(({ required }) => required);
    const answer = asksNobody ? { values: {} } : await this.#askPerson({ ...need, fields: missing });
    if (answer.choice !== undefined) return answer;
    const secrets = need.fields.filter(isSecret);
    const decisive = secrets.length > 0 ? secrets : need.fields;
    if (decisive.length > 0)
      this.#sent = {
        signature: "",
        texts: [],
        kinds: need.fields.flatMap(({ kind }) => (kind === "link" ? [] : [kind])),
        isStored: decisive.every(({ name }) => stored.has(name)),
      };
    return { values: { ...Object.fromEntries(stored), ...answer.values } };
  }

  fail(code: string, message = `The site ended the login (${code}).`): never {
    throw new SiteFailure(code, message);
  }

  #continue(given: FakeAnswer): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    this.#asked = undefined;
    this.#turn = Promise.withResolvers();
    asked.answer(given);
  }

  async #play(): Promise<void> {
    let outcome: LoginOutcome;
    try {
      const end_url = (await this.#site(this)) ?? `https://${this.domain}/`;
      outcome = { kind: "signed_in", url: end_url, plan: { ...this.state.plan, end_url } };
    } catch (error) {
      const code = error instanceof SiteFailure ? error.code : "flow_failed";
      outcome = { kind: "failed", code: code as LoginFailureCode, message: messageOf(error) };
    }
    this.#turn?.resolve(outcome);
  }

  #askPerson(need: LoginNeed): Promise<FakeAnswer> {
    const { promise, reject, resolve } = Promise.withResolvers<FakeAnswer>();
    this.signal.addEventListener(
      "abort",
      () => {
        reject(new Error("The login is over."));
      },
      { once: true },
    );
    this.#asked = { need, answer: resolve };
    this.#turn?.resolve(need);
    return promise;
  }

  async #storedFor({ fields, refused }: LoginNeed): Promise<ReadonlyMap<string, string>> {
    const { isStored = false, kinds = [] } = this.#sent ?? {};
    const isCode = kinds.includes("otp") && !kinds.includes("password");
    const found = new Map<string, string>();
    // A person corrects a refused answer.
    if (refused !== undefined && !isStored) return found;
    if (refused === undefined || isCode)
      for (const { kind, label, name, required } of fields) {
        if (kind === "link") continue;
        const field = { kind: kind satisfies FieldKind, label, name, required, nodes: [], host: this.domain };
        const value = await valueFor(field, { answers: {}, stored: this.#options.values, used: this.#used });
        if (value === undefined) continue;
        this.#used.push(value.name);
        found.set(name, value.value);
      }
    if (refused !== undefined && found.size === 0) throw new SiteFailure("credentials_invalid", refused);
    return found;
  }
}
