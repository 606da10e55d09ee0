import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unlimited } from "../service/http-cost.ts";
import type { BenchDatabase } from "./bench-database.ts";

export interface ServerReport {
  /** Since the start. */
  readonly statements: number;
  readonly sessions: number;
  readonly cpuMs: number;
}

export interface StandInServer {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pid: number;
  report(): Promise<ServerReport>;
  stop(): Promise<void>;
}

/** Starts a server without browsers on the database. @param name - of its data folder. */
export async function startStandInServer({ folder, url }: BenchDatabase, name: string): Promise<StandInServer> {
  const flags = unlimited.flatMap((flag, index) =>
    index % 2 === 0 ? [`${flag.slice(2)}=${unlimited[index + 1] ?? ""}`] : [],
  );
  const limits = ["max-sessions=100000", "max-sessions-per-project=100000", "max-sessions-per-organization=100000"];
  // Sessions without browsers have no telemetry.
  limits.push("default-telemetry=off");
  const child = fork(
    fileURLToPath(new URL("stand-in-server.ts", import.meta.url)),
    [join(folder, name), url, ...flags, ...limits],
    { execArgv: ["--conditions=@shoal/source"] },
  );
  const { baseUrl, apiKey } = await answer<{ baseUrl: string; apiKey: string }>(child);
  return {
    baseUrl,
    apiKey,
    pid: child.pid ?? 0,
    async report() {
      const answering = answer<ServerReport>(child);
      child.send("report");
      return await answering;
    },
    async stop() {
      const ended = once(child, "exit");
      child.send("stop");
      await ended;
    },
  };
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const [message] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([status]) => {
      throw new Error(`The server ended with status ${String(status)}.`);
    }),
  ])) as [T];
  return message;
}
