/** A reason that may pass. `busy`: the server or all connections are in use; `full`: the server's disk is full. */
export type Outage = "unreachable" | "busy" | "slow" | "full";

const marked = new WeakMap<object, Outage>();

const conditions: Readonly<Record<string, Outage>> = {
  "08": "unreachable",
  "57P01": "unreachable", // admin_shutdown
  "57P02": "unreachable", // crash_shutdown
  "57P03": "unreachable", // cannot_connect_now
  "57P05": "unreachable", // idle_session_timeout
  "25006": "unreachable", // read_only_sql_transaction: the server is no longer the primary
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

/** The server closes the connection after these. */
const lastWords: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "57P05", "25P03"]);

function sqlStateOf(error: object): string | undefined {
  // Only errors of PostgreSQL have a severity; errors of Node have codes too.
  return "severity" in error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function outageOf(error: unknown): Outage | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const state = sqlStateOf(error);
  return (state === undefined ? undefined : (conditions[state] ?? conditions[state.slice(0, 2)])) ?? marked.get(error);
}

export function markNoConnection(error: unknown): unknown {
  // Message of the pool when all connections stay in use for connectionTimeoutMillis.
  if (error instanceof Error && outageOf(error) === undefined)
    marked.set(error, error.message.startsWith("timeout exceeded") ? "busy" : "unreachable");
  return error;
}

/** Returns whether the connection is unusable after an error: it broke, or did not answer in time. Marks the error. */
export function markBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  if (state !== undefined) return lastWords.has(state);
  if (/timeout/i.test(error.message)) marked.set(error, "slow");
  // Other errors without a SQLSTATE may be misuse of the driver.
  else if (
    /connection|ECONN|EPIPE|socket|not queryable/i.test(`${"code" in error ? String(error.code) : ""} ${error.message}`)
  )
    marked.set(error, "unreachable");
  else return false;
  return true;
}
