import type { GlobalFlags, Run } from "../core/types.ts";
import { ExitError, UsageError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import { findConnection } from "./settings.ts";

export interface Reached {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly project?: string;
  /** Limit for a call including retries. */
  readonly totalTimeoutMs?: number;
}

/** @param isOpen - the operation needs no key. @throws {ExitError} without a key. */
export function reach(flags: GlobalFlags, run: Run, isOpen = false): Reached {
  const found = findConnection(flags, run.env);
  const isUsable = !("problem" in found) || (found.problem === "key" && (isOpen || flags.dryRun === true));
  if (!isUsable)
    throw new ExitError(
      found.problem === "key" ? exitCodes.unauthorized.status : exitCodes.usage.status,
      found.message,
      found.hint,
    );
  if (flags.requestTimeout !== undefined && !(flags.requestTimeout > 0))
    throw new UsageError("--request-timeout must be a number of seconds above 0.");
  const { apiKey, project } = "problem" in found ? {} : found;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ExitError(
      exitCodes.usage.status,
      "The API key contains invalid characters (often a trailing newline).",
      "Check SHOAL_API_KEY, or log in again with: shoal login",
    );
  const { username, password, search, hash } = new URL(found.baseUrl);
  if (username + password + search + hash !== "")
    throw new ExitError(
      exitCodes.usage.status,
      "The URL of the service must not contain a user name, password, query (?…) or fragment (#…).",
      "Check --base-url and SHOAL_BASE_URL. Set the key with SHOAL_API_KEY.",
    );
  return {
    baseUrl: found.baseUrl.replace(/(?<!\/)\/+$/, ""),
    ...(apiKey !== undefined && { apiKey }),
    ...(project !== undefined && { project }),
    ...(flags.requestTimeout !== undefined && { totalTimeoutMs: flags.requestTimeout * 1000 }),
  };
}
