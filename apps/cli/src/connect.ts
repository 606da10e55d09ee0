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

/**
 * A transport to the service that the flags, the environment or this machine's service name.
 *
 * @param isOpen - the operation needs no key.
 * @throws {ExitError} without a key.
 */
export function connect(flags: GlobalFlags, run: Run, isOpen = false): Transport {
  const found = findConnection(flags, run.env);
  const isUsable = !("problem" in found) || (isOpen && found.problem === "key");
  if (!isUsable) throw new ExitError(found.problem === "key" ? exitCodes.unauthorized.status : exitCodes.usage.status, found.message, found.hint);
  if (flags.timeout !== undefined && !(flags.timeout > 0)) throw new UsageError("--timeout takes a number of seconds above 0.");
  const { apiKey, project } = "problem" in found ? {} : found;
  try {
    return createTransport({ baseUrl: found.baseUrl, ...(apiKey !== undefined && { apiKey }), ...(project !== undefined && { project }), ...(flags.timeout !== undefined && { totalTimeoutMs: flags.timeout * 1000 }) });
  } catch (error) {
    // An address with a password in it, or a key that no header can carry.
    if (error instanceof TypeError) throw new ExitError(exitCodes.usage.status, error.message, "Look at --base-url, SHOAL_BASE_URL and SHOAL_API_KEY.");
    throw error;
  }
}
