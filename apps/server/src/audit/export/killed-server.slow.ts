import { AuditLogExportDestination } from "@shoal/schemas";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ExportTarget, startExportTarget, targetDestination } from "../../testing/export-target.ts";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../../testing/server-processes.ts";

const path = "/audit-logs/export/destinations";
const prefix = "killed/";
let target: ExportTarget;
let servers: ServerProcesses;
let settings: Record<string, string>;
beforeAll(async () => {
  target = await startExportTarget();
  settings = Object.fromEntries(
    Object.entries(target.settings).map(([name, value]) => [`SHOAL_${name.toUpperCase()}`, String(value)]),
  );
  servers = await startServerProcesses();
});
afterAll(async () => {
  await servers.close();
  await target.close();
});

async function send(server: ServerProcess, method: string, at: string, body?: object): Promise<unknown> {
  const response = await fetch(server.baseUrl + at, {
    method,
    headers: { authorization: `Bearer ${servers.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
}
const change = async (server: ServerProcess, times: number) => {
  for (let time = 0; time < times; time += 1) await send(server, "DELETE", "/profiles/nothing");
};
async function kill({ child }: ServerProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

it("leaves no gap and no duplicate when servers are killed between writing and recording an object", async () => {
  const one = await servers.start("exporting", settings);
  const { id } = AuditLogExportDestination.parse(await send(one, "POST", path, { ...targetDestination, prefix }));
  const lease = (ms: number) =>
    servers.database.query
      .updateTable("audit_export_destinations")
      .set({ lease_until: new Date(Date.now() + ms) })
      .where("id", "=", id)
      .execute();
  const put = () => target.s3.done.filter((asked) => asked.startsWith(`PUT /shoal/${prefix}`));
  await change(one, 3);
  target.s3.fault = (asked) => (asked.startsWith("PUT ") ? "unanswered" : undefined);
  await send(one, "PATCH", `${path}/${id}`, { status: "active" });
  await expect.poll(() => put().length).toBeGreaterThan(0);
  await kill(one);
  const before = put().length;
  // The restarted server releases its lease, and is killed again during the same object.
  const again = await servers.start("exporting", settings);
  await expect.poll(() => put().length).toBeGreaterThan(before);
  await change(again, 3);
  await kill(again);
  await lease(3_600_000);
  // Another server takes over when the lease expires.
  expect(new Set(put()).size).toBe(1);
  target.s3.fault = undefined;
  const other = await servers.start("other", settings);
  await change(other, 3);
  expect(AuditLogExportDestination.parse(await send(other, "GET", `${path}/${id}`))).not.toHaveProperty(
    "last_exported_cursor",
  );
  await lease(-1000);
  await send(other, "GET", "/audit-logs/verify");
  const { last_sequence } = await servers.database.query
    .selectFrom("audit_chain")
    .select("last_sequence")
    .executeTakeFirstOrThrow();
  await expect
    .poll(async () =>
      Number(AuditLogExportDestination.parse(await send(other, "GET", `${path}/${id}`)).last_exported_cursor ?? 0),
    )
    .toBeGreaterThanOrEqual(last_sequence);
  const lines = await target.lines(prefix);
  expect(lines.length).toBeGreaterThanOrEqual(last_sequence);
  expect(lines.map(({ sequence }) => sequence)).toEqual(Array.from({ length: lines.length }, (_, index) => 1 + index));
  // The next server starts with the same object.
  expect(put().filter((asked) => asked === put()[0]).length).toBeGreaterThanOrEqual(3);
  expect(new Set(put()).size).toBe((await target.objects(prefix)).size);
  expect(other.output()).not.toContain("topsecret");
});
