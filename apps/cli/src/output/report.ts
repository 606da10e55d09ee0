import { messageOf } from "@shoal/primitives";
import { ApiError, ConnectionError, ContractError, TimeoutError } from "@shoal/transport";
import { styleText } from "node:util";
import { ExitError, UsageError } from "../core/errors.ts";
import { exitCodes, exitStatusOf } from "../core/exit-codes.ts";
import type { Terminal } from "../core/types.ts";
import { printable, printableLines } from "./format.ts";

/** Turns an error of the service into words of the command line. */
export interface ReportContext {
  readonly terminal: Terminal;
  readonly command: string;
  /** `--timeout-seconds` or `<path>`. */
  readonly nameOf: (field: string) => string | undefined;
  /** `shoal api-keys list` for `apiKeys.list`. */
  readonly commandOf: (operationId: string) => string | undefined;
  readonly keySource: string | undefined;
}

/** Failures of `shoal browsers delete a b c`, which continues after each. The first sets the exit status. */
export class SeveralErrors extends Error {
  override readonly name = "SeveralErrors";
  readonly errors: readonly unknown[];
  constructor(errors: readonly unknown[]) {
    super(`${String(errors.length)} calls failed.`);
    this.errors = errors;
  }
}

/** Prints an error and the next step on stderr. @returns the exit status. */
export function report(error: unknown, context: ReportContext): number {
  const say = (message: string, ...more: (string | undefined)[]) => {
    print(context.terminal, message, more);
  };
  if (error instanceof SeveralErrors)
    return error.errors.map((each) => report(each, context))[0] ?? exitCodes.error.status;
  if (error instanceof UsageError) {
    say(error.message, `See: ${context.command} --help`);
    return exitCodes.usage.status;
  }
  if (error instanceof ExitError) {
    say(error.message, error.hint);
    return error.status;
  }
  if (ApiError.isInstance(error)) {
    say(...linesOf(error, context));
    return exitStatusOf(error.status);
  }
  if (TimeoutError.isInstance(error)) {
    say(withCommands(error.message, context).replace(/\b(?:timeoutMs|totalTimeoutMs)\b/g, "--request-timeout"));
    return exitCodes.timeout.status;
  }
  if (ConnectionError.isInstance(error)) {
    const { hint = "Is the service running? Check its address in --base-url or SHOAL_BASE_URL.", message } = error;
    const problem = message.endsWith(hint) ? message.slice(0, -hint.length).trimEnd() : message;
    say(withCommands(problem, context), hint.replace("baseUrl", "--base-url or SHOAL_BASE_URL"));
    return exitCodes.connection.status;
  }
  if (ContractError.isInstance(error)) {
    say(
      withCommands(error.message, context),
      "The versions of the service and this command differ; update the older one.",
    );
    return exitCodes.error.status;
  }
  say(messageOf(error));
  return exitCodes.error.status;
}

function print(terminal: Terminal, message: string, more: readonly (string | undefined)[]): void {
  const label = terminal.errorColour ? styleText("red", "error", { validateStream: false }) : "error";
  for (const [index, line] of printableLines(message).trimEnd().split("\n").entries())
    terminal.stderr.write(index === 0 ? `${label}: ${line}\n` : `  ${line}\n`);
  for (const line of more) if (line !== undefined && line !== "") terminal.stderr.write(`  ${printable(line)}\n`);
}

/** The problem, further problems, then the next step. */
function linesOf(error: ApiError, context: ReportContext): [string, ...(string | undefined)[]] {
  const { field, hint } = error.fields;
  const data = { message: error.message, field: textOf(field), hint: textOf(hint) };
  const others = (error.details ?? []).filter(
    ({ message }) => message !== undefined && !error.message.includes(message),
  );
  return [
    problemOf(data, context),
    ...others.map((detail) => problemOf({ ...detail, message: detail.message ?? "" }, context)),
    data.hint && hintOf(data.hint, context),
    error.status === 401 && context.keySource !== undefined
      ? `The key came from ${context.keySource}. Store another key with: shoal login`
      : undefined,
    error.retryAfterMs === undefined ? undefined : `Try again in ${String(Math.ceil(error.retryAfterMs / 1000))} s.`,
    `code ${error.code}, status ${String(error.status)}${error.requestId === undefined ? "" : `, request ${error.requestId}`}`,
  ];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Puts the flag of the field before the message, without the field and hint that the service put into it. */
function problemOf(
  {
    message,
    field,
    hint,
  }: { readonly message: string; readonly field?: string | undefined; readonly hint?: string | undefined },
  context: ReportContext,
): string {
  let problem = message;
  if (hint !== undefined && problem.endsWith(hint)) problem = problem.slice(0, -hint.length).trimEnd();
  // Services without `field` start the message with it all the same.
  const path = field ?? /^(?:body|query|params)(?:\.\w+)+(?=: )/.exec(problem)?.[0];
  if (path !== undefined && problem.startsWith(`${path}: `))
    // The whole body has no name.
    problem = [flagOf(path, context), problem.slice(path.length + 2)].filter(Boolean).join(": ");
  return withCommands(problem, context);
}

/** Appends the rest of a path into its value: `--telemetry: browser.console`. A field without a flag keeps its name alone. */
function flagOf(path: string, { nameOf }: ReportContext): string {
  const [, ...names] = path.split(".");
  for (let count = names.length; count > 0; count--) {
    const flag = nameOf(names.slice(0, count).join("."));
    if (flag !== undefined) return [flag, names.slice(count).join(".")].filter(Boolean).join(": ");
  }
  return names.join(".");
}

/** Replaces the names of operations by their commands, except in quoted text and paths. */
function withCommands(text: string, { commandOf }: Pick<ReportContext, "commandOf">): string {
  return replaceNames(text, (name) => {
    const command = commandOf(name);
    return command && `\`${command}\``;
  });
}

/** A hint never repeats input, so replacing wire names cannot change a value. */
function hintOf(hint: string, context: ReportContext): string {
  const named = replaceNames(hint, (name) => context.nameOf(name.replace(/^(?:body|query|params)\./, "")));
  const flagged = named.replace(/\bwith the status (?=\w)/g, "with --status ");
  return withCommands(/[.!?]$/.test(flagged) ? flagged : `${flagged}.`, context);
}

/** Looks up words that can only be names: those with a dot or an underscore inside. */
function replaceNames(text: string, lookUp: (name: string) => string | undefined): string {
  return text.replace(
    /(?<!["\w./-])([a-z]\w*(?:[._][a-z]\w*)+)(?:\(\))?(?!["\w/=]|\.\w)/gi,
    (whole, name: string) => lookUp(name) ?? whole,
  );
}
