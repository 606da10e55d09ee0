import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Access } from "../../http/auth/access.ts";
import { connectionRow } from "../../testing/connection-row.ts";
import { FlowStore } from "../flows/flow-store.ts";
import type { ConnectionRow } from "./connection-row.ts";
import { ConnectionStore } from "./connection-store.ts";
import type { Connections } from "./connections.ts";
import { connectionHandlers, type LoginPages } from "./handlers.ts";
import { openTestDatabase } from "../../testing/test-database.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-connections-"));
let database: Database;
beforeAll(async () => {
  ({ database } = await openTestDatabase(folder));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

it("never shows a successful login with the status before it", async () => {
  const { query } = database;
  const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const [id, profile_id] = [createId(), createId()];
  await query.insertInto("profiles").values({ id: profile_id, project_id, name: profile_id }).execute();
  await query.insertInto("auth_connections").values(connectionRow({ id, project_id, profile_id })).execute();
  const flows = new FlowStore(database);
  const flow = await flows.start({ connectionId: id, type: "login", serverId: "one" }, Date.now());
  const store = new ConnectionStore(database);
  let reads = 0;
  const connections = {
    store,
    /** The login succeeds after the first read of the connection. */
    async existing(): Promise<ConnectionRow> {
      const row = (await store.find(project_id, id)) ?? expect.fail();
      reads += 1;
      if (reads === 1) await flows.change(flow.id, { kind: "signed_in", url: "https://example.com/" }, Date.now());
      return row;
    },
  };
  const pages = { of: () => ({}) };
  const { getAuthConnection } = connectionHandlers(
    connections as unknown as Connections,
    pages as unknown as LoginPages,
  );
  type Request = Parameters<typeof getAuthConnection>[0];
  const context = { projectId: project_id } as unknown as Access;
  const request = { params: { id }, context } as unknown as Request;
  expect(await getAuthConnection(request)).toMatchObject({ flow_status: "SUCCESS", status: "AUTHENTICATED" });
});
