import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { Figure } from "../measuring/figures.ts";
import { requestCost, unlimited } from "./http-cost.ts";

const rows = 10_000;

/** Stores ten thousand profiles and running sessions, and their server. @returns ids of a profile and the project. */
export async function fill(socketDirectory: string): Promise<{ profile: string; project: string }> {
  const client = new Client({ host: socketDirectory, user: "shoal", database: "postgres" });
  await client.connect();
  try {
    const project = (await client.query<{ id: string }>("select id from projects where is_default")).rows[0]?.id ?? "";
    await client.query(
      "insert into profiles (id, project_id, name) select 'p' || n, $1, 'profile ' || n from generate_series(1, $2::int) n",
      [project, rows],
    );
    const server = (await client.query<{ id: string }>("select id from servers")).rows[0]?.id ?? "";
    await client.query(
      `insert into sessions (id, project_id, name, tags, placement, server_id, timeout_seconds, headless, stealth, viewport, browser_restarts, created_at)
       select 's' || n, $1, 'session ' || n, '{"team":"shop"}', 'sandbox', $2, 600, true, false, '{"width":1920,"height":1080}', 0, now() - n * interval '1 second' from generate_series(1, $3::int) n`,
      [project, server, rows],
    );
    await client.query("analyze profiles, sessions");
    return { profile: `p${String(rows / 2)}`, project };
  } finally {
    await client.end();
  }
}

/** @returns an argument for {@link requestCost}. */
async function startByHand(
  socketDirectory: string,
  project: string,
): Promise<{ pid: number; url: string; stop(): void }> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("hand-server.ts", import.meta.url)), socketDirectory, project],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const port = await new Promise<string>((resolve) =>
    child.stdout.setEncoding("utf8").once("data", (text: string) => {
      resolve(text.trim());
    }),
  );
  if (child.pid === undefined) throw new Error("The server by hand did not start.");
  return { pid: child.pid, url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** The service's CPU for one row and for a page of a hundred out of ten thousand, against the same queries by hand. */
export async function measureStoredRows(requests: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn", ...unlimited]);
  const socketDirectory = join(folder, "database", "run");
  const figures: Figure[] = [];
  const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
  const { profile, project } = await fill(socketDirectory);
  const byHand = await startByHand(socketDirectory, project);
  try {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const list = (await shoal.browsers.list({ limit: 100 })).items;
    if (list.length !== 100) throw new Error(`The list has ${String(list.length)} of 100 sessions.`);
    const get = (path: string, from: { pid: number; url: string }) => ({
      pid: from.pid,
      url: from.url + path,
      method: "GET",
      headers,
    });
    const ours = { pid: service.pid, url: service.baseUrl };
    const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
    const inTurn = async (
      a: Parameters<typeof requestCost>[0],
      b: Parameters<typeof requestCost>[0],
      count: number,
    ) => {
      await requestCost(a, count / 4);
      await requestCost(b, count / 4);
      const costs: [number[], number[]] = [[], []];
      for (let round = 0; round < 5; round++) {
        costs[0].push(await requestCost(a, count));
        costs[1].push(await requestCost(b, count));
      }
      return [median(costs[0]), median(costs[1])] as const;
    };
    for (const [name, path, count] of [
      [`GET /profiles/{id} of ${String(rows)}, CPU`, `/profiles/${profile}`, requests],
      [`GET /browsers?limit=100 of ${String(rows)}, CPU`, "/browsers?limit=100", Math.ceil(requests / 4)],
    ] as const) {
      const [mine, theirs] = await inTurn(get(path, ours), get(path, byHand), count);
      figures.push({ name, unit: "µs", ours: mine, peer: theirs, peerName: "pg and node:http", target: "<= 1.6" });
    }
    // Both answer from memory; only the first checks the key.
    const [keyed, open] = await inTurn(get("/auth/context", ours), get("/health", ours), requests);
    figures.push({
      name: "a key, its project and its rights, CPU",
      unit: "µs",
      ours: keyed,
      peer: open,
      peerName: "GET /health, no key",
    });
  } finally {
    byHand.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}
