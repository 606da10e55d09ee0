// The baseline with node:http and pg: GET /profiles/ID and GET /browsers?limit=N from the service's tables, with one
// prepared query each and without keys or validation. Prints its port.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "pg";

const [, , socketDirectory = "", projectId = ""] = process.argv;
const pool = new Pool({ host: socketDirectory, user: "shoal", database: "postgres", max: 10, min: 2 });

/** A constant of the size of the service's signed tokens. */
const token = "x".repeat(135);

interface SessionRow {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: Date;
  readonly timeout_seconds: number;
  readonly headless: boolean;
  readonly stealth: boolean;
  readonly viewport: unknown;
  readonly tags: unknown;
  readonly placement: string;
  readonly browser_restarts: number;
}

async function answer(url: URL): Promise<unknown> {
  if (url.pathname.startsWith("/profiles/")) {
    const name = url.pathname.slice("/profiles/".length);
    const { rows } = await pool.query({
      name: "profile",
      text: "select id, name, created_at, updated_at, last_used_at from profiles where project_id = $1 and (id = $2 or name = $2)",
      values: [projectId, name],
    });
    return rows[0];
  }
  const limit = Number(url.searchParams.get("limit"));
  const { rows } = await pool.query<SessionRow>({
    name: "sessions",
    text: "select * from sessions where project_id = $1 and (pool_state is null or pool_state = 'leased') and ended_at is null order by created_at desc, id desc limit $2 offset $3",
    values: [projectId, limit + 1, 0],
  });
  return rows.slice(0, limit).map((row) => ({
    session_id: row.id,
    created_at: row.created_at,
    cdp_ws_url: `ws://127.0.0.1/browsers/${row.id}/cdp?jwt=${token}`,
    webdriver_ws_url: `ws://127.0.0.1/browsers/${row.id}/webdriver?jwt=${token}`,
    base_url: `http://127.0.0.1/browsers/${row.id}`,
    browser_live_view_url: `http://127.0.0.1/browser/live/${token.slice(0, 60)}`,
    browser_live_view_read_only_url: `http://127.0.0.1/browser/live/${token.slice(0, 60)}`,
    headless: row.headless,
    stealth: row.stealth,
    timeout_seconds: row.timeout_seconds,
    name: row.name,
    tags: row.tags,
    viewport: row.viewport,
    usage: { uptime_ms: Date.now() - row.created_at.getTime() },
    placement: row.placement,
    browser_restarts: row.browser_restarts,
  }));
}

const server = createServer((request, response) => {
  answer(new URL(request.url ?? "/", "http://x")).then(
    (value) => {
      const text = JSON.stringify(value);
      response.writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": Buffer.byteLength(text),
      });
      response.end(text);
    },
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, "127.0.0.1", () => {
  console.log((server.address() as AddressInfo).port);
});
