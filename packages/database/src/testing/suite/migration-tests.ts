import { sql } from "kysely";
import { expect, it } from "vitest";
import { migrations } from "../../migrations/all.ts";
import { startHolder } from "../processes.ts";
import { runOn } from "../servers.ts";
import { type DatabaseSuite, refusal } from "./suite.ts";

export function migrationTests(suite: DatabaseSuite): void {
  it("runs each migration once when four processes open it at once", async () => {
    const url = await suite.server.createDatabase();
    const holders = [1, 2, 3, 4].map(() => startHolder({ dataDir: "", url }));
    const reports = await Promise.all(holders.map((holder) => holder.report));
    const projects = reports.map((report) => (report.ok ? report.projects : [report.message]));
    expect(new Set(projects.flat()).size).toBe(1);
    expect(projects.map((list) => list.length)).toEqual([1, 1, 1, 1]);
    const { query } = await suite.connect(url);
    const { rows } = await sql<{ name: string }>`select name from shoal_migrations order by name`.execute(query);
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(migrations));
    await Promise.all(holders.map((holder) => holder.close()));
  });

  it("refuses a database that a newer Shoal migrated", async () => {
    const url = await suite.server.createDatabase();
    await (await suite.connect(url)).close();
    await runOn(url, "insert into shoal_migrations (name, timestamp) values ('0999_future', now()::text)");
    const error = await refusal(url);
    expect(error.code).toBe("schema_newer");
    expect(error.message).toContain("0999_future");
  });
}
