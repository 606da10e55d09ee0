import { createId } from "@shoal/primitives";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Access } from "../http/auth/access.ts";
import { createProjectLookup } from "../http/auth/project-lookup.ts";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.ts";
import type { Grant } from "./grants.ts";
import { People } from "./people.ts";
import { createPresentAccess } from "./present-access.ts";

let folder: string;
let database: TestDatabase["database"];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-present-"));
  ({ database } = await openTestDatabase(join(folder, "database")));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const everywhere = (role: Grant["role"]): Grant => ({ project: "*", role });

/** The present access of a run that a token of a person started. @param later - the grants of their newest token. */
async function presentOf(role: Grant["role"], later: readonly Grant[]) {
  const people = new People(database);
  const lookup = createProjectLookup(database, () => true);
  const person = { audience: "console", issuer: "https://id.example", subject: createId(), name: "Ada" } as const;
  const confirm = (grants: readonly Grant[]) =>
    people.confirm({ ...person, email: "ada@example.com", grants, validUntilMs: Date.now() + 60_000 });
  const { key } = await confirm([everywhere(role)]);
  await confirm(later);
  const keysById = { get: async (id: string) => (await people.find(id))?.key };
  const { id: projectId } = await lookup.standard();
  const access: Access = { key, projectId, role, baseUrl: "", namedProjectId: undefined };
  return (await createPresentAccess({ keysById, lookup }, people)(access)).role;
}

it.each([
  ["operator", "admin", "operator"],
  ["viewer", "admin", "viewer"],
  ["admin", "operator", "operator"],
  ["admin", "admin", "admin"],
] as const)("limits a run of a person as %s, whose newest token is of the role %s, to the role %s", async (...of) => {
  const [first, later, present] = of;
  expect(await presentOf(first, [everywhere(later)])).toBe(present);
});

it("refuses a run of a person without a role in its project", async () => {
  await expect(presentOf("admin", [{ project: "another", role: "admin" }])).rejects.toMatchObject({ status: 404 });
});
