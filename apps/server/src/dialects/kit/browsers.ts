import { ServiceError } from "@shoal/router";
import type { Browser } from "@shoal/schemas";
import { enderOf } from "../../sessions/browsers/lifecycle.ts";
import type { DialectParts } from "./dialect.ts";
import type { NativeCalls } from "./native-calls.ts";

/** A session, running or ended. @throws {ServiceError} 404. */
export async function browserOf(calls: NativeCalls, id: string): Promise<Browser> {
  return calls.call("getBrowser", { params: { id_or_name: id }, query: { include_deleted: true } });
}

/** Also for a session that has just ended. @throws {ServiceError} other than 404. */
export async function endBrowser(calls: NativeCalls, id: string): Promise<void> {
  try {
    await calls.call("deleteBrowser", { params: { id_or_name: id } });
  } catch (error) {
    if (!ServiceError.isInstance(error) || error.status !== 404) throw error;
  }
}

/** Ends the others too if one fails. @throws the first error. */
export async function endBrowsers(calls: NativeCalls, browsers: readonly Browser[]): Promise<void> {
  const errors: unknown[] = [];
  for (const { session_id: id } of browsers)
    await endBrowser(calls, id).catch((error: unknown) => {
      errors.push(error);
    });
  if (errors.length > 0) throw errors[0];
}

/** After a failed start, whose reason the client gets. Needs no right to end sessions: the client never had this one. */
export async function dropBrowser(
  { sessions }: Pick<DialectParts, "sessions">,
  { access }: NativeCalls,
  id: string,
): Promise<void> {
  await sessions.delete(access.projectId, id, enderOf(access)).catch(() => undefined);
}

/** Sessions that the project may run at once; 0 = unlimited. */
export async function concurrencyOf(
  { usualConcurrency }: Pick<DialectParts, "usualConcurrency">,
  calls: NativeCalls,
  projectId: string,
): Promise<number> {
  try {
    const limits = await calls.call("getProjectLimits", { params: { id: projectId } });
    const own = "max_concurrent_sessions" in limits ? limits.max_concurrent_sessions : undefined;
    return own ?? usualConcurrency();
  } catch (error) {
    // A key with a policy may not read the limits.
    if (ServiceError.isInstance(error) && error.status === 403) return usualConcurrency();
    throw error;
  }
}
