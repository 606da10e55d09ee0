import type { OutlineNode, PageOutline, SettledPage } from "@shoal/instance";
import { isAmongHosts } from "@shoal/instance";
import { formFromPlan, stepOf, withStep, type LoginPlan } from "../plan/plan.ts";
import type { ReadField, ReadForm } from "../reading/forms.ts";
import type { LoginModel, PageReading } from "../reading/read-page.ts";
import { judge, type Verdict } from "../verdict/judge.ts";
import { FormFiller } from "./form-filler.ts";
import { answerTo, isFailure, ofAuthentication } from "./http-authentication.ts";
import { isAuthority } from "./hosts.ts";
import type { LoginPage } from "./login-page.ts";
import { formFromModel } from "./model-form.ts";
import { needOf } from "./need.ts";
import { fail, type LoginAnswers, type LoginNeed, type LoginOutcome, type LoginState } from "./outcome.ts";
import { valueFor, type StoredValues } from "./values.ts";
import { idOf, waysOf } from "./way-id.ts";

export interface LoginOptions {
  readonly page: LoginPage;
  /** Where the login begins; its host must be allowed. */
  readonly startUrl: string;
  /** Hosts on which values may be typed: see `allowedHosts`. */
  readonly hosts: readonly string[];
  readonly values: StoredValues;
  /** The only origins on which stored values may be typed, as for `isAmongOrigins`. Absent: those of `hosts`. */
  readonly storedOrigins?: readonly string[] | undefined;
  /** Provider whose button is pressed first. */
  readonly provider?: string | undefined;
  /** Of an earlier login. */
  readonly plan?: LoginPlan | undefined;
  /** Off by default. */
  readonly model?: LoginModel | undefined;
  /** Of an interrupted login on the same page. */
  readonly state?: LoginState | undefined;
}

const maxSteps = 25;
const maxSeen = 3;
/** Looks at a page without a form, each after at most a settle. */
const maxWaits = 4;
const quietMs = 500;
const settleMs = 7_500;
const sureMs = 1_000;

interface Look {
  readonly outline: PageOutline;
  readonly reading: PageReading;
  readonly settled: SettledPage;
  readonly verdict: Verdict;
}

/**
 * Signs in on a page. `run` continues until the login succeeds, fails, or needs a person; call it again with the
 * answers. Stored values are tried once.
 */
export class Login {
  readonly #options: LoginOptions;
  #state: LoginState;
  readonly #filler: FormFiller;
  #answers: Readonly<Record<string, string>> = {};

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#filler = new FormFiller(options.page, options.hosts, options.storedOrigins);
    this.#state = options.state ?? {
      started: false,
      steps: 0,
      seen: {},
      used: [],
      pressed: [],
      waits: 0,
      plan: { start_url: options.startUrl, steps: [] },
    };
  }

  /** For continuing in another process. Contains no values. */
  get state(): LoginState {
    return this.#state;
  }

  /** @throws {Error} when the browser has ended. */
  async run(answers: LoginAnswers = {}): Promise<LoginOutcome> {
    this.#answers = answers.values ?? {};
    try {
      let choice = answers.choice;
      if (!this.#state.started) {
        const failure = await this.#open(this.#options.startUrl);
        if (failure !== undefined) return failure;
        this.#set({ started: true });
      } else if (this.#answers.link !== undefined) {
        const failure = await this.#open(this.#answers.link);
        if (failure !== undefined) return failure;
      }
      for (;;) {
        if (this.#state.steps >= maxSteps)
          return fail("max_steps_exceeded", `The login took more than ${String(maxSteps)} steps.`);
        this.#set({ steps: this.#state.steps + 1 });
        const outcome = await this.#step(choice);
        choice = undefined;
        if (outcome !== undefined) return outcome;
      }
    } finally {
      this.#answers = {};
    }
  }

  #set(change: Partial<LoginState>): void {
    this.#state = { ...this.#state, ...change };
  }

  async #open(url: string): Promise<LoginOutcome | undefined> {
    const { hosts, page } = this.#options;
    const { detail, outcome } = await page.act({ kind: "goto", url, hosts: [...hosts] });
    if (outcome === "refused_host")
      return fail("domain_not_allowed", `The address leads to ${detail ?? "a host"}, which is not allowed.`);
    if (outcome !== "done") return fail("network_error", `The page cannot be opened: ${detail ?? outcome}.`);
    return undefined;
  }

  async #look(timeoutMs = settleMs): Promise<Look> {
    const { model, page, plan } = this.#options;
    const settled = await page.settle({ quiet_ms: quietMs, timeout_ms: timeoutMs });
    const { outline, reading: read } = await page.read(settled.status);
    let reading = read;
    const known = plan && formFromPlan(outline, plan);
    if (known !== undefined) reading = { ...reading, form: known };
    else if (reading.form === undefined && model !== undefined)
      reading = { ...reading, form: await formFromModel(model, outline) };
    const { sent } = this.#state;
    const verdict = judge(reading, settled, sent && { ...sent, message: sent.message });
    return { outline, reading, settled, verdict };
  }

  async #step(choice: string | undefined): Promise<LoginOutcome | undefined> {
    const look = await this.#look();
    const { reading, settled, verdict } = look;
    if (settled.host !== "" && !isAmongHosts(settled.host, this.#options.hosts))
      return fail("domain_not_allowed", `The login led to ${settled.host}, which is not allowed.`);
    if (choice !== undefined) {
      const way = waysOf(reading).find((one) => idOf(one) === choice);
      if (way !== undefined) return this.#press(way.node);
    }
    switch (verdict.kind) {
      case "challenge":
        return this.#authenticate(settled.challenge);
      case "unreachable":
        return fail("network_error", "The site cannot be reached.");
      case "locked":
        return fail("website_error", verdict.message);
      case "blocked":
        return (await this.#mayWait())
          ? undefined
          : fail("bot_detected", reading.message ?? "The site blocks this browser.");
      case "refused":
        return this.#refused(look, verdict.message);
      case "waiting":
      case "nothing":
        return this.#hasAuthenticated(look) ? this.#authenticated(look) : this.#nothing(look);
      case "captcha":
        return this.#waitOutside(reading, { type: "captcha", message: "Solve the captcha on the page." });
      case "passkey":
        return this.#avoidPasskey(reading);
      case "signed_in":
        // A provider passes the login on to the site.
        if (this.#isAtProvider(settled)) return this.#nothing(look);
        if (this.#hasAuthenticated(look) && isFailure(settled)) return this.#authenticated(look);
        return verdict.isSure || (await this.#isStillSignedIn(look)) ? this.#success(look) : undefined;
      case "next":
        return this.#next(look);
    }
  }

  #isAtProvider({ host }: SettledPage): boolean {
    return isAuthority(host) && !isAuthority(new URL(this.#options.startUrl).hostname);
  }

  async #isStillSignedIn({ reading }: Look): Promise<boolean> {
    await this.#options.page.settle({ quiet_ms: sureMs, timeout_ms: sureMs * 4 });
    const again = await this.#look();
    return again.verdict.kind === "signed_in" && again.reading.signature === reading.signature;
  }

  #success({ reading, settled }: Look): LoginOutcome {
    const plan = {
      ...this.#state.plan,
      end_url: settled.url,
      ...(reading.signOut && { sign_out: reading.signOut.name }),
    };
    return { kind: "signed_in", url: settled.url, plan };
  }

  async #mayWait(): Promise<boolean> {
    if (this.#state.waits >= maxWaits) return false;
    this.#set({ waits: this.#state.waits + 1 });
    await this.#options.page.settle({ quiet_ms: 2 * quietMs, timeout_ms: settleMs });
    return true;
  }

  async #nothing({ reading, verdict }: Look): Promise<LoginOutcome | undefined> {
    const { loginLink, providers, switches } = reading;
    const wasPressed = loginLink !== undefined && this.#state.pressed.includes(loginLink.ref);
    if (verdict.kind === "nothing" && this.#state.sent === undefined && loginLink !== undefined && !wasPressed) {
      this.#set({ pressed: [...this.#state.pressed, loginLink.ref].slice(-50) });
      return this.#press(loginLink);
    }
    if (await this.#mayWait()) return undefined;
    if (providers.length > 0 || switches.length > 0) return this.#offerWays(reading);
    return this.#state.sent === undefined
      ? fail("login_form_not_found", "The page has no login form.")
      : fail("navigation_confused", "The page after the login is neither signed in nor a further step.");
  }

  async #offerWays(reading: PageReading): Promise<LoginOutcome | undefined> {
    const own = reading.providers.find(({ provider }) => provider === this.#options.provider);
    return own === undefined ? needOf(reading, []) : this.#press(own.node);
  }

  async #avoidPasskey(reading: PageReading): Promise<LoginOutcome | undefined> {
    const ways = [...reading.switches, ...reading.factors];
    const way = ways.find(
      ({ factor, node }) => (factor === "password" || factor === "switch") && !this.#state.pressed.includes(node.ref),
    );
    if (way === undefined) {
      if (await this.#mayWait()) return undefined;
      return fail("unsupported_auth_method", "The site requires a passkey and offers no other way.");
    }
    this.#set({ pressed: [...this.#state.pressed, way.node.ref].slice(-50) });
    return this.#press(way.node);
  }

  async #refused({ reading }: Look, message: string): Promise<LoginOutcome | undefined> {
    const { sent, used } = this.#state;
    const { form } = reading;
    if (sent === undefined) return fail("website_error", message);
    const isCode = sent.kinds.includes("otp") && !sent.kinds.includes("password");
    const mayRepeat = isCode && sent.isStored && used.filter((name) => name === "otp").length < 2;
    this.#forgetSent();
    if (mayRepeat) return undefined;
    if (sent.isStored) return fail("credentials_invalid", message);
    return needOf(
      reading,
      (form?.fields ?? []).filter(({ kind }) => sent.kinds.includes(kind) || kind === "password"),
      { refused: message },
    );
  }

  #forgetSent(): void {
    const { sent: _sent, ...rest } = this.#state;
    this.#state = rest;
  }

  async #next(look: Look): Promise<LoginOutcome | undefined> {
    const { reading } = look;
    if (reading.dismissal !== undefined && this.#times(`dismiss ${reading.dismissal.name}`) < maxSeen) {
      this.#count(`dismiss ${reading.dismissal.name}`);
      return this.#press(reading.dismissal);
    }
    this.#count(reading.signature);
    if (this.#times(reading.signature) > maxSeen)
      return fail("stuck_in_loop", "The same page came back without progress.");
    const own = reading.providers.find(({ provider }) => provider === this.#options.provider);
    if (own !== undefined && this.#times("provider") === 0) {
      this.#count("provider");
      return this.#press(own.node);
    }
    if (reading.form !== undefined) return this.#fillForm(look, reading.form);
    if (reading.accounts.length > 0) return this.#chooseAccount(reading);
    if (reading.factors.length > 0) return this.#chooseFactor(reading);
    if (reading.consent !== undefined) return this.#press(reading.consent);
    if (reading.skip !== undefined && reading.outside === undefined) return this.#press(reading.skip);
    if (reading.outside !== undefined) return this.#waitOutside(reading, reading.outside);
    return undefined;
  }

  /** Waiting does not count as a step or a loop. */
  #waitOutside(reading: PageReading, outside: NonNullable<LoginNeed["external"]>): LoginOutcome {
    this.#set({ seen: { ...this.#state.seen, [reading.signature]: 0 }, steps: Math.max(0, this.#state.steps - 1) });
    const link =
      outside.type === "link"
        ? [{ name: "link", kind: "link" as const, label: "Link from the message", required: false }]
        : [];
    return { ...needOf(reading, [], { external: outside }), fields: link };
  }

  #times(key: string): number {
    return this.#state.seen[key] ?? 0;
  }

  #count(key: string): void {
    this.#set({ seen: { ...this.#state.seen, [key]: this.#times(key) + 1 } });
  }

  async #chooseAccount(reading: PageReading): Promise<LoginOutcome | undefined> {
    const names = await Promise.all(["email", "username"].map((name) => this.#options.values(name, 1)));
    const own = reading.accounts.find(
      ({ target }) => target !== undefined && names.some((name) => name?.toLowerCase() === target.toLowerCase()),
    );
    if (own !== undefined) return this.#press(own.node);
    return needOf(reading, []);
  }

  async #chooseFactor(reading: PageReading): Promise<LoginOutcome | undefined> {
    for (const [factor, name] of [
      ["password", "password"],
      ["totp", "otp"],
    ] as const) {
      const way = reading.factors.find((one) => one.factor === factor);
      if (way !== undefined && !this.#state.used.includes(name) && (await this.#options.values(name, 1)) !== undefined)
        return this.#press(way.node);
    }
    return needOf(reading, []);
  }

  async #fillForm(look: Look, form: ReadForm): Promise<LoginOutcome | undefined> {
    const { outline, reading } = look;
    const found = new Map<ReadField, Awaited<ReturnType<typeof valueFor>>>();
    // Texts that a page does not mark as required, such as a name of the device, are left empty. A page with nothing
    // else asks a question.
    const isQuestion = form.fields.every(({ kind, required }) => kind === "text" && !required);
    for (const field of form.fields) {
      const wishes = { answers: this.#answers, stored: this.#options.values, used: this.#state.used };
      const value = await valueFor(field, wishes);
      if (value !== undefined || isQuestion || field.required || field.kind !== "text") found.set(field, value);
    }
    const missing = [...found].flatMap(([field, value]) => (value === undefined ? [field] : []));
    if (missing.length > 0) {
      this.#set({ seen: { ...this.#state.seen, [reading.signature]: this.#times(reading.signature) - 1 } });
      return needOf(reading, missing);
    }
    const values = [...found].flatMap(([field, value]) => (value === undefined ? [] : [{ field, value }]));
    for (const { field, value } of values) {
      const failure = await this.#filler.fill(field, value, outline);
      if (failure !== undefined) return failure;
    }
    for (const { ref } of reading.remember) await this.#options.page.act({ kind: "check", ref, checked: true });
    const names = values.filter(({ value }) => value.isStored).map(({ value }) => value.name);
    const secrets = values.filter(({ field }) => field.kind === "password" || field.kind === "otp");
    const decisive = secrets.length > 0 ? secrets : values;
    this.#set({
      used: [...this.#state.used, ...names].slice(-100),
      waits: 0,
      plan: { ...this.#state.plan, steps: withStep(this.#state.plan.steps, stepOf(outline, form)) },
      sent: {
        signature: reading.signature,
        texts: reading.texts,
        kinds: values.map(({ field }) => field.kind),
        ...(reading.message !== undefined && { message: reading.message }),
        isStored: decisive.every(({ value }) => value.isStored),
      },
    });
    await this.#filler.submit(
      form,
      values.map(({ field }) => field.kind),
    );
    return undefined;
  }

  async #press(node: OutlineNode): Promise<LoginOutcome | undefined> {
    const { outcome } = await this.#options.page.act({ kind: "click", ref: node.ref });
    if (outcome === "done" || outcome === "replaced") return undefined;
    await this.#options.page.settle({ quiet_ms: quietMs, timeout_ms: 2_000 });
    return undefined;
  }

  async #authenticate(challenge: SettledPage["challenge"]): Promise<LoginOutcome | undefined> {
    const { hosts, page } = this.#options;
    const { used } = this.#state;
    const answer = await answerTo(challenge, {
      ...this.#options,
      answers: this.#answers,
      hasFailed: used.includes("basic"),
    });
    if ("kind" in answer) return answer;
    this.#answers = {};
    this.#set({
      used: [...used, "basic"],
      waits: 0,
      sent: { signature: ofAuthentication, kinds: ["username", "password"], texts: [], isStored: answer.isStored },
    });
    await page.act({ kind: "authenticate", ...answer.act, hosts: [...hosts] });
    return undefined;
  }

  #hasAuthenticated({ settled }: Look): boolean {
    return this.#state.sent?.signature === ofAuthentication && !this.#isAtProvider(settled);
  }

  /** A site with HTTP authentication has no other sign: its page is the answer. */
  async #authenticated(look: Look): Promise<LoginOutcome | undefined> {
    const { quiet, host, status } = look.settled;
    // The present document may still be the one before the answer.
    if (quiet && isFailure(look.settled))
      return fail("website_error", `The site answered the user name and the password with status ${String(status)}.`);
    if (quiet && host !== "" && look.verdict.kind === "nothing") return this.#success(look);
    if (await this.#mayWait()) return undefined;
    return fail("network_error", "The site does not answer the user name and the password.");
  }
}
