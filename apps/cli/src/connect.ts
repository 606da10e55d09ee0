import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Run } from "./program.ts";
import { findConnection } from "./settings.ts";
import { UsageError } from "./values.ts";

/** Flags that every command has. */
export interface GlobalFlags {
  readonly baseUrl?: string;
  readonly project?: string;
  readonly context?: string;
  /** Seconds. */
  readonly requestTimeout?: number;
  /** Results only. */
  readonly quiet?: boolean;
  /** Tell on stderr what goes over the wire. */
  readonly debug?: boolean;
  /** Print the request instead of sending it. */
  readonly dryRun?: boolean;
}

/** A service that can be called. */
export interface Reached {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly project?: string;
  /** For a call with all its tries. */
  readonly totalTimeoutMs?: number;
}

/**
 * The service that the flags, the environment, the context or this machine's service name.
 *
 * @param isOpen - the operation needs no key.
 * @throws {ExitError} without a key.
 */
export function reach(flags: GlobalFlags, run: Run, isOpen = false): Reached {
  const found = findConnection(flags, run.env);
  const isUsable = !("problem" in found) || (found.problem === "key" && (isOpen || flags.dryRun === true));
  if (!isUsable) throw new ExitError(found.problem === "key" ? exitCodes.unauthorized.status : exitCodes.usage.status, found.message, found.hint);
  if (flags.requestTimeout !== undefined && !(flags.requestTimeout > 0)) throw new UsageError("--request-timeout takes a number of seconds above 0.");
  const { apiKey, project } = "problem" in found ? {} : found;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ExitError(
      exitCodes.usage.status,
      "The API key holds characters that no key has: a line break or a space, perhaps.",
      "Look at SHOAL_API_KEY, or log in again with: shoal login",
    );
  const { username, password, search, hash } = new URL(found.baseUrl);
  if (username + password + search + hash !== "")
    throw new ExitError(
      exitCodes.usage.status,
      "The service's address must not hold a user name, a password, a query (?…) or a fragment (#…).",
      "Look at --base-url and SHOAL_BASE_URL. A key is given in SHOAL_API_KEY.",
    );
  return {
    baseUrl: found.baseUrl.replace(/\/+$/, ""),
    ...(apiKey !== undefined && { apiKey }),
    ...(project !== undefined && { project }),
    ...(flags.requestTimeout !== undefined && { totalTimeoutMs: flags.requestTimeout * 1000 }),
  };
}
