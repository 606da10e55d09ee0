import { Shoal } from "@shoal/client";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import type { TestService } from "./service.ts";

/** Makes a project, for which there is no operation yet, in the service's embedded database. @returns a client with a key of that project. */
export async function addProject(test: TestService, name: string): Promise<{ readonly id: string; readonly key: string; readonly shoal: Shoal }> {
  const id = `p${randomBytes(12).toString("hex").slice(0, 23)}`;
  const database = new pg.Client({ host: join(test.dataDir, "database", "run"), port: 5432, user: "shoal", database: "postgres" });
  await database.connect();
  try {
    await database.query("insert into projects (id, name) values ($1, $2)", [id, name]);
  } finally {
    await database.end();
  }
  const { key } = await test.shoal.apiKeys.create({ name: `key of ${name}`, project_id: id });
  return { id, key, shoal: new Shoal({ baseUrl: test.service.baseUrl, apiKey: key }) };
}
