import { ApiError, ConnectionError, ContractError, TimeoutError } from "@shoal/transport";
import { styleText } from "node:util";
import { ExitError } from "./connect.ts";
import { exitCodes, exitStatusOf } from "./exit-codes.ts";
import { printable, type Terminal } from "./output.ts";
import { UsageError } from "./values.ts";

/** Tells a person on stderr what went wrong and what to do. @returns the exit status. */
export function report(error: unknown, terminal: Terminal): number {
  const say = (message: string, ...more: (string | undefined)[]) => {
    const label = terminal.interactive && terminal.colour ? styleText("red", "error", { validateStream: false }) : "error";
    terminal.stderr.write(`${label}: ${printable(message)}\n`);
    for (const line of more) if (line !== undefined && line !== "") terminal.stderr.write(`  ${printable(line)}\n`);
  };
  if (error instanceof UsageError) {
    say(error.message, "Add --help for what the command takes.");
    return exitCodes.usage.status;
  }
  if (error instanceof ExitError) {
    say(error.message, error.hint);
    return error.status;
  }
  if (ApiError.isInstance(error)) {
    const details = (error.details ?? []).map(({ message }) => message).filter((message) => message !== undefined && message !== error.message);
    say(error.message, ...details, `code ${error.code}, status ${String(error.status)}${error.requestId === undefined ? "" : `, request ${error.requestId}`}`);
    return exitStatusOf(error.status);
  }
  if (TimeoutError.isInstance(error)) {
    say(error.message);
    return exitCodes.timeout.status;
  }
  if (ConnectionError.isInstance(error)) {
    say(error.message, 'Is the service running? "shoal serve" starts one on this machine; --base-url or SHOAL_BASE_URL names another.');
    return exitCodes.connection.status;
  }
  if (ContractError.isInstance(error)) {
    say(error.message, "The service and this command do not agree about an answer; update the older of the two.");
    return exitCodes.error.status;
  }
  say(error instanceof Error ? error.message : String(error));
  return exitCodes.error.status;
}
