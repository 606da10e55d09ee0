import type { AuthField, ManagedAuthStateEvent, SubmitLogin } from "@shoal/schemas";
import { createInterface, type Interface } from "node:readline";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { Terminal } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import type { Answerer } from "./asking.ts";

export function isRequired({ required }: AuthField): boolean {
  return required !== false;
}

/** Answers from `--value`, each tried once. The next answerer gets all other questions. */
export class GivenAnswers implements Answerer {
  readonly #left: Map<string, string>;
  readonly #next: Answerer;

  constructor(values: Readonly<Record<string, string>>, next: Answerer) {
    this.#left = new Map(Object.entries(values));
    this.#next = next;
  }

  answer(state: ManagedAuthStateEvent, signal: AbortSignal): Promise<SubmitLogin | undefined> {
    const fields = state.fields ?? [];
    const known = fields.filter(({ id, ref }) => this.#nameFor(id, ref) !== undefined);
    if (known.length === 0 || fields.some((field) => isRequired(field) && !known.includes(field)))
      return this.#next.answer(state, signal);
    return Promise.resolve({ field_values: Object.fromEntries(known.map(({ id, ref }) => [id, this.#take(id, ref)])) });
  }

  #nameFor(...names: readonly string[]): string | undefined {
    return names.find((name) => this.#left.has(name));
  }

  #take(...names: readonly string[]): string {
    const name = this.#nameFor(...names) ?? "";
    const value = this.#left.get(name) ?? "";
    this.#left.delete(name);
    return value;
  }
}

/** `Username and Password`, `a choice: Text me, Call me` or the site's words about an action elsewhere. */
export function describeQuestion({
  choices = [],
  external_action_message,
  fields = [],
}: ManagedAuthStateEvent): string {
  const join = (parts: readonly string[]) => new Intl.ListFormat("en").format(parts.map(printable));
  if (fields.length > 0) return join(fields.map(({ id, label }) => label ?? id));
  if (external_action_message !== undefined) return `an action elsewhere: ${printable(external_action_message)}`;
  return `a choice: ${join(choices.map(({ label }) => label))}`;
}

/** Cannot ask. The login continues, so that a person can answer on the hosted page. */
export class NoAnswers implements Answerer {
  readonly #site: string;

  constructor(site: string) {
    this.#site = site;
  }

  answer(state: ManagedAuthStateEvent): Promise<undefined> {
    // The login continues when the action is done.
    if (state.flow_step !== "AWAITING_INPUT") return Promise.resolve(undefined);
    const page = state.hosted_url === undefined ? "" : `Sign in on the page ${state.hosted_url}, or `;
    return Promise.reject(
      new ExitError(
        exitCodes.error.status,
        `${printable(this.#site)} requires ${describeQuestion(state)}. Cannot ask without a terminal.`,
        `${page}${page === "" ? "P" : "p"}ass --value NAME=VALUE, or answer with -o jsonl.`,
      ),
    );
  }
}

/** Answers from stdin, one JSON object per line. */
export class LineAnswers implements Answerer {
  readonly #none: NoAnswers;
  readonly #reader: Interface;
  readonly #lines: string[] = [];
  #number = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(terminal: Pick<Terminal, "stdin">, site: string) {
    this.#none = new NoAnswers(site);
    this.#reader = createInterface({ input: terminal.stdin });
    this.#reader.on("line", (line) => {
      this.#lines.push(line);
      this.#wake();
    });
    this.#reader.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  close(): void {
    this.#reader.close();
  }

  async answer(state: ManagedAuthStateEvent, signal: AbortSignal): Promise<SubmitLogin | undefined> {
    const onAbort = () => {
      this.#wake();
    };
    signal.addEventListener("abort", onAbort);
    try {
      while (!signal.aborted) {
        const line = this.#lines.shift();
        if (line !== undefined) {
          this.#number += 1;
          if (line.trim() !== "") return parseAnswer(line, this.#number);
        } else if (this.#isClosed) {
          await this.#none.answer(state);
          return undefined;
        } else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
      return undefined;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** Never shows the line: it may contain a password. */
function parseAnswer(line: string, number: number): SubmitLogin {
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    answer = undefined;
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw new UsageError(
      `stdin, line ${String(number)}: expected a JSON object such as {"field_values":{"username":"me"}}.`,
    );
  return answer;
}
