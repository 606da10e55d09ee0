import { anySignal } from "@shoal/primitives";
import type { AuthConnection, ManagedAuthStateEvent } from "@shoal/schemas";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { Flag, GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { relativeTime, printable, truncate } from "../../output/format.ts";
import { printValue } from "../../output/print-result.ts";
import { openElsewhere, openUrl } from "../../operations/open-url.ts";
import { parseValue } from "../../table/request.ts";
import type { Answerer } from "./asking.ts";
import { GivenAnswers, LineAnswers, NoAnswers } from "./answers.ts";
import { followLogin } from "./follow-login.ts";
import { Interrupted } from "./interrupted.ts";
import { LoginCalls, type SpecOf, type WantedConnection } from "./login-calls.ts";
import { LoginView } from "./login-view.ts";
import { QuietInput } from "./quiet-input.ts";
import { WaitingKeys } from "./waiting-keys.ts";

export interface ConnectFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly profile: string;
  readonly credential?: string;
  readonly loginUrl?: string;
  readonly value?: readonly string[];
  readonly open?: boolean;
}

const valueFlag: Flag = {
  field: "value",
  place: "body",
  kind: "map",
  required: false,
  clearable: false,
  description: "",
  secret: true,
};

export async function connectSite(domain: string, specOf: SpecOf, flags: ConnectFlags, run: Run): Promise<void> {
  const wanted: WantedConnection = {
    domain,
    profile_name: flags.profile,
    ...(flags.credential !== undefined && { credential: { name: flags.credential } }),
    ...(flags.loginUrl !== undefined && { login_url: flags.loginUrl }),
  };
  if (flags.value?.some((pair) => pair.endsWith("=-")) === true && flags.output === "jsonl")
    throw new UsageError("--value cannot read stdin with -o jsonl, which reads answers from stdin. Write @FILE.");
  const values = parseValue(valueFlag, flags.value ?? [], "--value") as Readonly<Record<string, string>>;
  if (flags.dryRun === true) {
    const { printRequest } = await import("../../operations/dry-run.ts");
    const request = { params: {}, query: {}, body: { ...wanted } };
    await printRequest({ spec: specOf("auth.connections.create"), request, given: { ...flags } }, flags, run);
    return;
  }
  await new ConnectCommand(new LoginCalls(specOf, flags, run), { wanted, values }, flags, run).run();
}

class ConnectCommand {
  readonly #calls: LoginCalls;
  readonly #wanted: WantedConnection;
  readonly #values: Readonly<Record<string, string>>;
  readonly #flags: ConnectFlags;
  readonly #run: Run;
  /** Name of the signed-in user, if it was entered here. */
  #identifier: string | undefined;

  constructor(
    calls: LoginCalls,
    given: { readonly wanted: WantedConnection; readonly values: Readonly<Record<string, string>> },
    flags: ConnectFlags,
    run: Run,
  ) {
    this.#calls = calls;
    this.#wanted = given.wanted;
    this.#values = given.values;
    this.#flags = flags;
    this.#run = run;
    this.#identifier = ["username", "email", "phone"]
      .map((name) => given.values[name])
      .find((value) => value !== undefined);
  }

  async run(): Promise<void> {
    const input = this.#isGuided ? new QuietInput(this.#run.terminal) : undefined;
    try {
      await this.#signIn(input);
    } finally {
      input?.end();
    }
  }

  async #signIn(input: QuietInput | undefined): Promise<void> {
    const connection = await this.#calls.connection(this.#wanted);
    const { domain, id } = connection;
    const started = await this.#calls.start(id);
    const prompts = this.#isGuided ? await import("./prompts.ts") : undefined;
    const view = new LoginView(this.#run.terminal, {
      domain: printable(domain),
      format: this.#flags.output,
      isQuiet: this.#flags.quiet === true,
      helpFor: prompts?.waitingHelp ?? (() => []),
    });
    await this.#announce(connection, started?.hosted_url, view);
    const answers = this.#answers(domain, view, prompts, input);
    const over = new AbortController();
    const signal = anySignal([this.#run.signal, over.signal]);
    try {
      const answerer = new GivenAnswers(this.#values, answers);
      const events = this.#calls.follow(id, signal);
      const end = await followLogin({
        id,
        events,
        answerer,
        view,
        submit: (answer) => this.#calls.submit(id, answer),
      });
      await this.#report(connection, end);
    } catch (error) {
      if (!this.#run.signal.aborted && !(error instanceof Interrupted)) throw error;
      input?.stopDropping();
      await this.#interrupt(id, started?.flow_expires_at);
      throw new ExitError(exitCodes.interrupted.status, `The login to ${printable(domain)} was interrupted.`);
    } finally {
      over.abort();
      if (answers instanceof LineAnswers) answers.close();
    }
  }

  /** Whether a person at the terminal answers. */
  get #isGuided(): boolean {
    return this.#run.terminal.interactive && this.#flags.output !== "jsonl";
  }

  #answers(
    domain: string,
    view: LoginView,
    prompts: typeof import("./prompts.ts") | undefined,
    input: QuietInput | undefined,
  ): Answerer {
    if (this.#flags.output === "jsonl") return new LineAnswers(this.#run.terminal, domain);
    if (prompts === undefined) return new NoAnswers(domain);
    const answers = new prompts.PromptAnswers({
      keys: new WaitingKeys(this.#run.terminal),
      openPage: ({ hosted_url }) => this.#openPage(hosted_url, view),
      onIdentifier: (value) => {
        this.#identifier = value;
      },
    });
    return {
      async answer(state, signal) {
        input?.stopDropping();
        try {
          return await answers.answer(state, signal);
        } finally {
          input?.drop();
        }
      },
    };
  }

  async #announce(connection: AuthConnection, hostedUrl: string | undefined, view: LoginView): Promise<void> {
    const { domain, id } = connection;
    if (hostedUrl === undefined)
      view.note(`A login to ${printable(domain)} is running already. This command joins it.`);
    const url = hostedUrl ?? (await this.#calls.get(id)).hosted_url ?? undefined;
    if (this.#flags.open === true) await this.#openPage(url, view);
    else if (url !== undefined) view.note(`Sign in here, or on the page ${printable(url)}`);
  }

  async #openPage(url: string | undefined, view: LoginView): Promise<void> {
    if (url === undefined) view.say("The service has no page for this login.");
    else if (await openUrl(url, this.#run.env)) view.note(`Opened the login page at ${printable(new URL(url).origin)}`);
    else for (const line of [...openElsewhere(url).split("\n"), printable(url)]) view.say(line);
  }

  async #report({ domain, id, profile_name }: AuthConnection, end: ManagedAuthStateEvent): Promise<void> {
    const { terminal } = this.#run;
    const { output, quiet } = this.#flags;
    if (end.flow_status !== "SUCCESS") throw failureOf(domain, id, end);
    if (output === "json" || output === "yaml") await printValue(terminal, await this.#calls.get(id), output);
    if (output !== "table" || quiet === true) return;
    const who = this.#identifier === undefined ? "" : ` as ${printable(this.#identifier)}`;
    const profile = /^[\w.@-]+$/.test(profile_name)
      ? profile_name
      : `'${profile_name.replaceAll("'", String.raw`'\''`)}'`;
    terminal.stderr.write(
      [
        `Profile ${printable(profile_name)} is signed in to ${printable(domain)}${who}.\n`,
        `Start a browser with it: shoal browsers create --profile-name ${printable(profile)}\n`,
      ].join(""),
    );
  }

  async #interrupt(id: string, expiresAt: string | undefined): Promise<void> {
    const { terminal } = this.#run;
    if (this.#isGuided) {
      const { confirm } = await import("@clack/prompts");
      const answer = await confirm({ message: "Cancel the login?", initialValue: true, output: process.stderr });
      if (answer !== true) {
        const until = expiresAt === undefined ? "" : `, until ${relativeTime(new Date(expiresAt), new Date())}`;
        terminal.stderr.write(`The login continues${until}. Follow it with: shoal auth connections follow ${id}\n`);
        return;
      }
    }
    await this.#calls.cancel(id).catch(() => undefined);
  }
}

const maxWords = 500;

function failureOf(domain: string, id: string, end: ManagedAuthStateEvent): ExitError {
  const { error_code, error_message, flow_status, website_error } = end;
  const reasons: Readonly<Partial<Record<string, string>>> = {
    CANCELED: "The login was cancelled.",
    EXPIRED: "The login took too long.",
  };
  const words = website_error ?? "";
  const site = words === "" || words === error_message ? "" : ` The site says: ${truncate(words, maxWords)}`;
  const reason = reasons[flow_status] ?? error_message ?? "The login failed.";
  return new ExitError(
    exitCodes.error.status,
    `Cannot sign in to ${domain}: ${truncate(reason, maxWords)}${site}${error_code === undefined ? "" : ` (${error_code})`}`,
    `Earlier logins: shoal auth connections timeline ${id}`,
  );
}
