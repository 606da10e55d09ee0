import { ApiError, ConnectionError, ContractError, TimeoutError } from "@shoal/transport";
import { styleText } from "node:util";
import { ExitError } from "./exit-error.ts";
import { exitCodes, exitStatusOf } from "./exit-codes.ts";
import { printable, printableLines } from "./format.ts";
import type { Terminal } from "./output.ts";
import { UsageError } from "./values.ts";

/** What a message is told with, beside the error itself. */
export interface ReportContext {
  readonly terminal: Terminal;
  /** The command that failed: `shoal profiles get`; `shoal` when none was found. */
  readonly command: string;
  /** How the command takes a field of the wire: `--timeout-seconds`, `<path>`. */
  readonly nameOf: (field: string) => string | undefined;
  /** The command of an operation: `shoal api-keys list` for `apiKeys.list`. */
  readonly commandOf: (operationId: string) => string | undefined;
  /** Where the API key was found, for when it is refused. */
  readonly keySource: string | undefined;
}

/** Says a message of the service in the words of the command line: flags for fields, commands for operations. */
export function inCommandWords(message: string, { nameOf, commandOf }: Pick<ReportContext, "nameOf" | "commandOf">): string {
  return (
    message
      .replace(/\b(?:body|query|params)\.([a-z_]+)/g, (whole, field: string) => nameOf(field) ?? whole)
      .replace(/(?<!["\w.])[a-z]\w*(?:\.[a-z]\w*)+(?:\(\))?(?!["\w])/gi, (whole) => {
        const command = commandOf(whole.replace("()", ""));
        return command === undefined ? whole : `\`${command}\``;
      })
      // The instance speaks of its operations and fields by their names on the wire.
      .replace(/(?<!["\w/.-])([a-z]+(?:_[a-z]+)+)(=true)?(?!["\w/=]|\.\w)/g, (whole, name: string, flag: string | undefined) => {
        const command = flag === undefined ? commandOf(name) : undefined;
        return command !== undefined ? `\`${command}\`` : ((flag === undefined ? undefined : nameOf(name)) ?? whole);
      })
  );
}

/** What failed of a command that goes on after a failure: `shoal browsers delete a b c`. The exit status is that of the first. */
export class SeveralErrors extends Error {
  override readonly name = "SeveralErrors";
  readonly errors: readonly unknown[];
  constructor(errors: readonly unknown[]) {
    super(`${String(errors.length)} calls failed.`);
    this.errors = errors;
  }
}

/** Tells a person on stderr what went wrong and what to do. @returns the exit status. */
export function report(error: unknown, context: ReportContext): number {
  const { terminal, command, keySource } = context;
  const say = (message: string, ...more: (string | undefined)[]) => {
    const label = terminal.errorColour ? styleText("red", "error", { validateStream: false }) : "error";
    for (const [index, line] of printableLines(message).trimEnd().split("\n").entries())
      terminal.stderr.write(index === 0 ? `${label}: ${line}\n` : `  ${line}\n`);
    for (const line of more) if (line !== undefined && line !== "") terminal.stderr.write(`  ${printable(line)}\n`);
  };
  const words = (message: string) => inCommandWords(message, context);
  if (error instanceof SeveralErrors) return error.errors.map((each) => report(each, context))[0] ?? exitCodes.error.status;
  if (error instanceof UsageError) {
    say(error.message, `See: ${command} --help`);
    return exitCodes.usage.status;
  }
  if (error instanceof ExitError) {
    say(error.message, error.hint);
    return error.status;
  }
  if (ApiError.isInstance(error)) {
    const details = (error.details ?? [])
      .map(({ message }) => message)
      .filter((message) => message !== undefined && !error.message.includes(message));
    say(
      words(error.message),
      ...details.map((message) => message && words(message)),
      error.status === 401 && keySource !== undefined ? `The key came from ${keySource}. Another one is kept with: shoal login` : undefined,
      error.retryAfterMs === undefined ? undefined : `Try again in ${String(Math.ceil(error.retryAfterMs / 1000))} s.`,
      `code ${error.code}, status ${String(error.status)}${error.requestId === undefined ? "" : `, request ${error.requestId}`}`,
    );
    return exitStatusOf(error.status);
  }
  if (TimeoutError.isInstance(error)) {
    say(words(error.message).replace(/\b(?:timeoutMs|totalTimeoutMs)\b/g, "--request-timeout"));
    return exitCodes.timeout.status;
  }
  if (ConnectionError.isInstance(error)) {
    say(words(error.message), "Is the service running? `shoal serve` starts one on this machine; --base-url or SHOAL_BASE_URL names another.");
    return exitCodes.connection.status;
  }
  if (ContractError.isInstance(error)) {
    say(words(error.message), "The service and this command do not agree about an answer; update the older of the two.");
    return exitCodes.error.status;
  }
  say(error instanceof Error ? error.message : String(error));
  return exitCodes.error.status;
}
