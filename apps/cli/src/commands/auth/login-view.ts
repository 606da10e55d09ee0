import type { ManagedAuthStateEvent } from "@shoal/schemas";
import type { OutputFormat, Terminal } from "../../core/types.ts";
import { printable, truncate } from "../../output/format.ts";
import { printJsonLine, styled } from "../../output/output.ts";
import { startSpinner, type Spinner } from "../../output/spinner.ts";

const maxWords = 500;

export interface ViewOptions {
  readonly domain: string;
  readonly format: OutputFormat;
  readonly isQuiet: boolean;
  /** Lines that show the keys of a wait; none if keys have no effect. */
  readonly helpFor: (state: ManagedAuthStateEvent) => readonly string[];
}

/** Shows how far a login is. Everything for people goes to stderr. */
export class LoginView {
  readonly #terminal: Terminal;
  readonly #options: ViewOptions;
  readonly #isSilent: boolean;
  #spinner: Spinner | undefined;
  #lastLine = "";
  #lastError = "";

  constructor(terminal: Terminal, options: ViewOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#isSilent = options.isQuiet || options.format === "jsonl";
  }

  say(line: string): void {
    if (this.#options.format === "jsonl") return;
    this.#spinner?.clear();
    this.#terminal.stderr.write(`${line}\n`);
  }

  note(line: string): void {
    if (!this.#isSilent) this.say(line);
  }

  state(state: ManagedAuthStateEvent): void {
    if (this.#options.format === "jsonl") printJsonLine(this.#terminal, state);
    this.#stopSpinner();
    this.#siteError(state);
    if (state.flow_status !== "IN_PROGRESS" || this.#isSilent) return;
    const { external_action_message: action } = state;
    if (state.flow_step === "AWAITING_EXTERNAL_ACTION") {
      const words = truncate(printable(action ?? "Waiting for an action elsewhere"), maxWords);
      this.#line(styled({ colour: this.#terminal.errorColour }, "bold", words));
      for (const line of this.#options.helpFor(state)) this.#terminal.stderr.write(`${line}\n`);
      this.#spin("Waiting");
    } else if (state.flow_step === "DISCOVERING")
      this.#progress(`Looking for the login form of ${this.#options.domain}`);
    else if (state.flow_step === "SUBMITTING") this.#progress(`Signing in to ${this.#options.domain}`);
    else if (action !== undefined) this.#line(truncate(printable(action), maxWords));
  }

  stop(): void {
    this.#stopSpinner();
  }

  /** The site's words, once for each answer. */
  #siteError({ error_code, flow_step, website_error: words }: ManagedAuthStateEvent): void {
    if (flow_step === "SUBMITTING") this.#lastError = "";
    // The end reports it.
    if (words === undefined || words === this.#lastError || error_code !== undefined) return;
    this.#lastError = words;
    const label = styled({ colour: this.#terminal.errorColour }, "red", "The site says");
    this.note(`${label}: ${truncate(printable(words), maxWords)}`);
  }

  #progress(text: string): void {
    if (this.#terminal.progress) this.#spin(text);
    else this.#line(`${text}…`);
  }

  #line(text: string): void {
    if (text !== this.#lastLine) this.say(text);
    this.#lastLine = text;
  }

  #spin(text: string): void {
    this.#spinner = startSpinner(this.#terminal);
    this.#spinner.say(`${text}…`);
  }

  #stopSpinner(): void {
    this.#spinner?.stop();
    this.#spinner = undefined;
  }
}
