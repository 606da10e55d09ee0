import { createTransport, type Transport } from "@shoal/transport";
import { exitCodes } from "./exit-codes.ts";
import type { Run } from "./program.ts";
import { findConnection } from "./settings.ts";
import { UsageError } from "./values.ts";

/** Flags that every command has. */
export interface GlobalFlags {
  readonly baseUrl?: string;
  readonly project?: string;
  /** Seconds. */
  readonly timeout?: number;
}

/** A failure with an exit status of its own. */
export class ExitError extends Error {
  override readonly name = "ExitError";
  readonly status: number;
  readonly hint: string | undefined;
  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** A transport to the service that the flags, the environment or this machine's service name. @throws {ExitError} without a key. */
export function connect(flags: GlobalFlags, run: Run): Transport {
  const connection = findConnection(flags, run.env);
  if ("problem" in connection) throw new ExitError(connection.problem === "key" ? exitCodes.unauthorized.status : exitCodes.usage.status, connection.message, connection.hint);
  if (flags.timeout !== undefined && !(flags.timeout > 0)) throw new UsageError("--timeout takes a number of seconds above 0.");
  const { baseUrl, apiKey, project } = connection;
  return createTransport({ baseUrl, apiKey, ...(project !== undefined && { project }), ...(flags.timeout !== undefined && { totalTimeoutMs: flags.timeout * 1000 }) });
}
