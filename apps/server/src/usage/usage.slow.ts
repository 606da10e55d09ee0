import { Browser, UsageRow } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
let site: Server;
const fileBytes = 3_000_000;
const token = "metrics-token-for-tests";

beforeAll(async () => {
  server = await startTestServer({
    usage_seconds: 1,
    allow_private_hosts: ["127.0.0.1"],
    metrics_token: token,
    metrics_projects: 1,
  });
  const random = Buffer.alloc(fileBytes, "shoal");
  site = createServer((_request, response) => response.end(random));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  site.close();
  await server.close();
});

interface Asked {
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

async function list(query = "", request: Asked = {}): Promise<UsageRow[]> {
  const { body, status } = await server.request("GET", `/usage?limit=100${query}`, request);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as unknown[]).map((row) => UsageRow.parse(row));
}

async function exported(query: string, key = server.key): Promise<string> {
  const answer = await fetch(`${server.baseUrl}/usage/export?${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

async function addDay(projectId: string, date: string, { keyId }: { readonly keyId?: string } = {}): Promise<void> {
  await server.database.query
    .insertInto("usage_days")
    .values({
      date,
      project_id: projectId,
      scope: keyId === undefined ? "project" : "api_key",
      api_key_id: keyId ?? "",
      session_ms: 60_000,
    })
    .execute();
}

const sum = (rows: readonly UsageRow[], field: "session_minutes" | "sessions_started" | "bytes_received") =>
  rows.reduce((total, row) => total + row[field], 0);

it("shows the minutes, bytes and peak of sessions by project and key", async () => {
  const project = await server.addProject(createId());
  const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
  const create = async (body: object) => {
    const answer = await server.request("POST", "/browsers", {
      key: project.key,
      body: { timeout_seconds: 3600, ...body },
    });
    return Browser.parse(answer.body).session_id;
  };
  const sessions = [await create({}), await create({})];
  const [first = "", second = ""] = sessions;
  const fetched = await server.request("POST", `/browsers/${first}/curl`, { key: project.key, body: { url } });
  expect(fetched.status, JSON.stringify(fetched.body)).toBe(200);
  // Bytes of running sessions show, and what follows after the end of the other one as well.
  await expect.poll(async () => sum(await list("", { key: project.key }), "bytes_received")).toBeGreaterThan(fileBytes);
  for (const id of [first, second]) await server.request("DELETE", `/browsers/${id}`, { key: project.key });
  await expect.poll(async () => sum(await list("", { key: project.key }), "session_minutes")).toBeGreaterThan(0);
  await expect.poll(async () => sum(await list("", { key: project.key }), "sessions_started")).toBe(2);
  // A session that starts during a charge raises the peak with the next one.
  const peak = async () =>
    Math.max(...(await list("", { key: project.key })).map((row) => row.peak_concurrent_sessions));
  await expect.poll(peak).toBe(2);
  const rows = await list("", { key: project.key });
  expect(sum(rows, "bytes_received")).toBeLessThan(fileBytes * 1.5);
  const { id: keyId } = await server.database.query
    .selectFrom("api_keys")
    .select("id")
    .where("project_id", "=", project.id)
    .executeTakeFirstOrThrow();
  const ofKeys = await list("&group_by=api_key", { key: project.key });
  expect(new Set(ofKeys.map(({ api_key_id }) => api_key_id))).toEqual(new Set([keyId]));
  expect(sum(ofKeys, "sessions_started")).toBe(2);
  const metrics = async () =>
    (await fetch(`${server.baseUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  await expect
    .poll(metrics)
    .toMatch(new RegExp(`shoal_usage_session_seconds_total\\{project="${project.id}"\\} [0-9.]+`));
  expect(await metrics()).toMatch(
    new RegExp(`shoal_usage_bytes_total\\{project="${project.id}",direction="received"\\} [34]\\d{6}`),
  );
});

it("shows a project's key its own project only, without the names of other keys", async () => {
  const [own, other] = [await server.addProject(createId()), await server.addProject(createId())];
  const admin = await server.database.query
    .selectFrom("api_keys")
    .select("id")
    .where("project_id", "is", null)
    .execute();
  for (const { id } of [own, other]) {
    await addDay(id, "2026-01-05");
    await addDay(id, "2026-01-05", { keyId: admin[0]?.id ?? "" });
  }
  const period = "&from=2026-01-05&to=2026-01-05";
  const projects = async (request: Asked, query = "") =>
    (await list(`${period}${query}`, request)).map(({ project_id }) => project_id);
  expect(await projects({ key: own.key })).toEqual([own.id]);
  expect(await projects({ key: own.key }, `&project_id=${own.id}`)).toEqual([own.id]);
  expect((await server.request("GET", `/usage?project_id=${other.id}`, { key: own.key })).status).toBe(404);
  expect((await server.request("GET", `/usage/export?project_id=${other.id}`, { key: own.key })).status).toBe(404);
  expect(await exported("from=2026-01-05&to=2026-01-05", own.key)).not.toContain(other.id);
  expect(await projects({})).toEqual([own.id, other.id].sort());
  expect(await projects({}, `&project_id=${other.id}`)).toEqual([other.id]);
  expect(await projects({ headers: { "x-shoal-project": other.id } })).toEqual([other.id]);
  const [row] = await list(`${period}&group_by=api_key`, { key: own.key });
  expect(row).toMatchObject({ api_key_id: admin[0]?.id });
  expect(row).not.toHaveProperty("api_key_name");
  const [full] = await list(`${period}&api_key_id=${admin[0]?.id ?? ""}`);
  expect(full).toHaveProperty("api_key_name");
});

it("exports CSV in which no text is a formula, and JSON lines, of any length", async () => {
  const { id } = await server.addProject('=HYPERLINK("http://evil.example","click"),\nx');
  const firstMs = Date.parse("2025-01-01");
  const dates = Array.from({ length: 365 }, (_, index) =>
    new Date(firstMs + index * 86_400_000).toISOString().slice(0, 10),
  );
  const rowsOfKeys = dates.flatMap((date) =>
    ["a", "b", "c"].map((keyId) => ({ date, project_id: id, scope: "api_key" as const, api_key_id: keyId })),
  );
  await server.database.query
    .insertInto("usage_days")
    .values(rowsOfKeys.map((row) => ({ ...row, session_ms: 150_000 })))
    .execute();
  const query = `from=2025-01-01&to=2025-12-31&group_by=api_key&project_id=${id}`;
  const csv = await exported(query);
  const [head, first] = csv.split("\r\n");
  expect(head).toBe(
    "date,project_id,project_name,api_key_id,api_key_name,session_minutes,sessions_started,peak_concurrent_sessions,bytes_sent,bytes_received",
  );
  expect(first).toBe(`2025-12-31,${id},"'=HYPERLINK(""http://evil.example"",""click""),\nx",a,,2.5,0,0,0,0`);
  expect(csv.trimEnd().split("\r\n")).toHaveLength(1 + 3 * 365);
  const lines = (await exported(`${query}&format=jsonl`)).trimEnd().split("\n");
  const rows = lines.map((line) => UsageRow.parse(JSON.parse(line)));
  expect(new Set(rows.map(({ api_key_id, date }) => `${date} ${String(api_key_id)}`)).size).toBe(3 * 365);
});

it("answers the last seven days by default, in pages, and refuses periods above 366 days", async () => {
  const { id } = await server.addProject(createId());
  // The day of the service stays the same during the test.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  for (const daysAgo of [0, 6, 7, 400]) await addDay(id, day(daysAgo));
  const dates = async (query: string) => (await list(`&project_id=${id}${query}`)).map(({ date }) => date);
  expect(await dates("")).toEqual([day(0), day(6)]);
  expect(await dates(`&from=${day(7)}`)).toEqual([day(0), day(6), day(7)]);
  const part = await server.request("GET", `/usage?project_id=${id}&from=${day(7)}&limit=1&offset=1`);
  expect(part.body).toMatchObject([{ date: day(6) }]);
  expect(part.headers.get("x-next-offset")).toBe("2");
  expect(await dates(`&to=${day(1)}`)).toEqual([day(6), day(7)]);
  expect(await dates(`&from=${day(400)}`)).toEqual([day(400)]);
  for (const query of ["from=2025-01-01&to=2026-01-02", "from=2026-01-02&to=2026-01-01", "from=2026-02-30"])
    expect((await server.request("GET", `/usage?${query}`)).status).toBe(400);
});

it("keeps the usage of a deleted project", async () => {
  const { id } = await server.addProject(createId());
  await addDay(id, "2026-02-01");
  await server.request("DELETE", `/org/projects/${id}`);
  expect(await list(`&project_id=${id}&from=2026-02-01&to=2026-02-01`)).toHaveLength(1);
});
