import { messageOf } from "@shoal/primitives";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { DatabaseError } from "./database-error.ts";
import type { DatabaseLog } from "./log.ts";
import { valueTypes } from "./value-types.ts";

export type Target =
  | { readonly url: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
      readonly password?: string;
    };

const minServerVersion = 14;
const maxConnections = 10;
export const connectTimeoutMs = 10_000;
const statementTimeoutMs = 30_000;
/** Longer than the server's limit, so that its error arrives first. */
export const queryTimeoutMs = statementTimeoutMs + 5000;
const idleInTransactionTimeoutMs = 60_000;
const drainMs = 5000;
const startingUpPatienceMs = 15_000;

function secretsOf(target: Target): string[] {
  if (!("url" in target)) return target.password === undefined ? [] : [target.password];
  const { password = "" } = /^[^/]*\/\/[^/?#:]*:(?<password>[^/?#]*)@/.exec(target.url)?.groups ?? {};
  const inQuery = /[?&]password=(?<password>[^&#]*)/.exec(target.url)?.groups?.password ?? "";
  const decoded = [password, inQuery].map((secret) => {
    try {
      return decodeURIComponent(secret);
    } catch {
      return secret;
    }
  });
  return [password, inQuery, ...decoded].filter((secret) => secret !== "");
}

function describeTarget(target: Target): string {
  if (!("url" in target)) return `PostgreSQL at ${target.host}`;
  try {
    const url = new URL(target.url);
    const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname);
    const port = url.searchParams.get("port") ?? url.port;
    return `PostgreSQL at ${host === "" ? "localhost" : host}${port === "" ? "" : `:${port}`}${decodeURI(url.pathname)}`;
  } catch {
    return "PostgreSQL";
  }
}

function invalidUrl(problem: string): DatabaseError {
  return new DatabaseError(`The database URL ${problem}.`, {
    code: "invalid_url",
    hint: "Write it as postgres://user:password@host:5432/database, with special characters in the password percent-encoded (@ is %40).",
  });
}

function checkUrl(url: string): void {
  if (!/^postgres(?:ql)?:\/\//i.test(url)) throw invalidUrl("must begin with postgres:// or postgresql://");
  try {
    // The host may be empty (`postgres:///db?host=/run/postgresql`).
    const parsed = new URL(url);
    decodeURIComponent(parsed.username + parsed.password + parsed.hostname);
    decodeURI(parsed.pathname);
  } catch {
    // The parser's error contains the whole URL with its password, so it is neither quoted nor kept as the cause.
    throw invalidUrl("cannot be parsed");
  }
}

export function connectionConfig(target: Target): PoolConfig {
  if ("url" in target) checkUrl(target.url);
  return {
    ...("url" in target
      ? { connectionString: target.url }
      : { ...target, password: target.password ?? "", ssl: false }),
    application_name: "shoal",
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // readTimestamp expects these, regardless of the defaults of server and role.
    options: "-c datestyle=ISO -c timezone=UTC",
    types: valueTypes(),
  };
}

export interface ClosablePool {
  readonly pool: Pool;
  /** Closes all connections; running queries are aborted after 5 s. */
  readonly close: () => Promise<void>;
}

export function createPool(target: Target, log: DatabaseLog, max = maxConnections): ClosablePool {
  const pool = new Pool({
    ...connectionConfig(target),
    max,
    min: Math.min(2, max),
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 3600,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  });
  // Breaking while idle, a connection emits an error event, which would end the process without a listener.
  const clients = new Set<PoolClient>();
  let isClosing = false;
  let lastIsGone = (): void => undefined;
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    clients.add(client);
  });
  pool.on("remove", (client) => {
    clients.delete(client);
    if (clients.size === 0) lastIsGone();
  });
  pool.on("error", (error) => {
    if (!isClosing) log.warn({ error: error.message }, "an idle database connection was lost");
  });
  return {
    pool,
    async close() {
      isClosing = true;
      const cutOff = setTimeout(() => {
        for (const client of clients) client.end().catch(() => undefined);
      }, drainMs);
      // `pool.end` resolves before the server has closed the connections.
      const gone = new Promise<void>((resolve) => {
        lastIsGone = resolve;
        if (clients.size === 0) resolve();
      });
      await Promise.all([pool.end(), gone]).finally(() => {
        clearTimeout(cutOff);
      });
    },
  };
}

function field(error: unknown, name: string): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}

/** A refused `localhost` is an AggregateError with an empty message and one error per address. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join("; ");
  return messageOf(error);
}

/** Omits the password. */
export function explainConnectionError(error: unknown, target: Target): DatabaseError {
  if (DatabaseError.isInstance(error)) return error;
  const where = describeTarget(target);
  const sqlState = field(error, "code") ?? "";
  let reason = reasonOf(error);
  for (const secret of secretsOf(target)) reason = reason.replaceAll(secret, "[password]");
  if (error instanceof TypeError || error instanceof URIError) return invalidUrl("cannot be parsed");
  if (sqlState.startsWith("28")) {
    return new DatabaseError(`${where} refused the login: ${reason}.`, {
      code: "authentication_failed",
      hint: "Check user and password in the database URL, and pg_hba.conf on the server.",
    });
  }
  if (sqlState === "3D000") {
    return new DatabaseError(`${where} does not have this database: ${reason}.`, {
      code: "database_missing",
      hint: "Create it (createdb NAME), or correct the name at the end of the database URL.",
    });
  }
  if (/SSL|TLS|certificate|CERT_|self.signed/i.test(`${sqlState} ${reason}`)) {
    return new DatabaseError(`The TLS connection to ${where} failed: ${reason}.`, {
      code: "tls_failed",
      hint: "Add to the database URL ?sslrootcert=FILE (certificate authority), ?sslmode=no-verify (encrypted, unverified) or ?sslmode=disable.",
    });
  }
  return new DatabaseError(`${where} cannot be reached: ${reason}.`, {
    code: "connection_failed",
    hint: "Check host and port in the database URL, and that the server is running.",
    cause: error,
  });
}

async function checkServer(client: PoolClient, target: Target): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number, current_setting('server_encoding') as encoding",
  );
  const [server] = rows;
  if (server === undefined || Math.trunc(server.number / 10_000) < minServerVersion) {
    throw new DatabaseError(
      `${describeTarget(target)} is version ${server?.version ?? "unknown"}; Shoal needs ${minServerVersion} or newer.`,
      {
        code: "server_too_old",
        hint: "Update the server, or omit the database URL to use the embedded PostgreSQL.",
      },
    );
  }
  if (server.encoding !== "UTF8") {
    throw new DatabaseError(
      `The database at ${describeTarget(target)} has the encoding ${server.encoding}; Shoal needs UTF8.`,
      {
        code: "encoding_unsupported",
        hint: "Create a new database: createdb --encoding=UTF8 --template=template0 NAME.",
      },
    );
  }
}

/** Opens the first connection and checks the server, which may take 15 s to start. @throws {DatabaseError} */
export async function connectFirst(pool: Pool, target: Target): Promise<void> {
  const deadline = performance.now() + startingUpPatienceMs;
  for (;;) {
    try {
      const client = await pool.connect();
      try {
        await checkServer(client, target);
      } finally {
        client.release();
      }
      return;
    } catch (error) {
      // 57P03 cannot_connect_now: starting up or recovering.
      if (field(error, "code") !== "57P03" || performance.now() > deadline) throw explainConnectionError(error, target);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
