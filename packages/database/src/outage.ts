/**
 * Why a query failed that may succeed later, unchanged:
 * `unreachable` = there is no connection to the server, or it broke; `busy` = the server, or every connection to it, is taken;
 * `slow` = the query took longer than it may; `full` = the server has no room left on its disk.
 */
export type Outage = "unreachable" | "busy" | "slow" | "full";

/** Errors that tell of the connection by where they came from, not by what they say. */
const marked = new WeakMap<object, Outage>();

/** PostgreSQL's conditions, by SQLSTATE or by the class that a state begins with. */
const conditions: Readonly<Record<string, Outage>> = {
  "08": "unreachable",
  "57P01": "unreachable", // admin_shutdown
  "57P02": "unreachable", // crash_shutdown
  "57P03": "unreachable", // cannot_connect_now
  "57P05": "unreachable", // idle_session_timeout
  "25006": "unreachable", // read_only_sql_transaction: what was the primary is one no more
  "25P03": "slow", // idle_in_transaction_session_timeout
  "40001": "busy", // serialization_failure
  "40P01": "busy", // deadlock_detected
  "53200": "busy", // out_of_memory
  "53300": "busy", // too_many_connections
  "53400": "busy", // configuration_limit_exceeded
  "55P03": "busy", // lock_not_available
  "57014": "slow", // query_canceled: statement_timeout
  "53100": "full", // disk_full
};

/** What the server says before it closes a connection, which looks usable for a moment still. */
const lastWords: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "57P05", "25P03"]);

function sqlStateOf(error: object): string | undefined {
  // What PostgreSQL itself says has a severity; Node's errors have codes too.
  return "severity" in error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Why a query failed that may succeed later; `undefined` for any other error. */
export function outageOf(error: unknown): Outage | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const state = sqlStateOf(error);
  return (state === undefined ? undefined : (conditions[state] ?? conditions[state.slice(0, 2)])) ?? marked.get(error);
}

/** Notes that no connection could be had. @returns the error. */
export function markNoConnection(error: unknown): unknown {
  // The pool's words when each of its connections is in use for longer than connectionTimeoutMillis.
  if (error instanceof Error && outageOf(error) === undefined)
    marked.set(error, error.message.startsWith("timeout exceeded") ? "busy" : "unreachable");
  return error;
}

/** Notes that a connection broke under a query, or gave no answer in time. @returns whether it did: it is of no use any more then. */
export function markBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  if (state !== undefined) return lastWords.has(state);
  if (/timeout/i.test(error.message)) marked.set(error, "slow");
  // Of the other errors without a SQLSTATE, some are the driver's complaints of its caller.
  else if (/connection|ECONN|EPIPE|socket|not queryable/i.test(`${"code" in error ? String(error.code) : ""} ${error.message}`))
    marked.set(error, "unreachable");
  else return false;
  return true;
}
