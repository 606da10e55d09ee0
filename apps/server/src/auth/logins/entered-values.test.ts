import { EnteredValues } from "@shoal/contract/logins";
import { createId } from "@shoal/primitives";
import { afterAll, beforeAll, expect, it } from "vitest";
import { envelopesOf } from "../../testing/envelopes-of.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import { ConnectionStore } from "../connections/connection-store.ts";
import { Credentials } from "../credentials/credentials.ts";
import { saveEntered } from "./entered-values.ts";

let server: TestServer;
let connections: ConnectionStore;
let credentials: Credentials;
let project: { readonly id: string; readonly key: string };
beforeAll(async () => {
  server = await startTestServer();
  connections = new ConnectionStore(server.database);
  credentials = new Credentials({ database: server.database, envelopes: await envelopesOf(server) });
  project = await server.addProject("logins");
});
afterAll(() => server.close());

const entered = new EnteredValues();
entered.add({ values: { password: "entered" } });

/** A new connection, as a login finds it at its start. */
async function connected(fields: object = {}): Promise<ConnectionRow> {
  const body = { domain: "example.com", profile_name: createId(), ...fields };
  const made = await server.request("POST", "/auth/connections", { key: project.key, body });
  const row = await connections.find(project.id, (made.body as { id: string }).id);
  if (row === undefined) throw new Error(JSON.stringify(made.body));
  return row;
}

async function added(name: string): Promise<string> {
  return (await credentials.create(project.id, { name, domain: "example.com", values: { password: "chosen" } })).id;
}

const found = async ({ id }: ConnectionRow) => {
  const row = await connections.find(project.id, id);
  return row && [row.credential_name, row.credential_provider];
};
const names = async () => (await credentials.list(project.id, { limit: 100, offset: 0 })).items.map(({ name }) => name);

it("stores what a person entered as the credential of the connection", async () => {
  const row = await connected();
  await saveEntered({ connections, credentials }, row, entered);
  const name = `${row.profile_name}-example.com`;
  expect(await found(row)).toEqual([name, null]);
  const { values } = await credentials.open(project.id, name);
  expect(values).toEqual({ password: "entered" });
});

it("keeps a choice of the credential or provider during the login, and stores nothing", async () => {
  const before = await names();
  const [own, ofProvider, unsaved, replaced] = [
    await connected(),
    await connected(),
    await connected(),
    await connected({ credential: { name: (await credentials.get(project.id, await added("first"))).name } }),
  ];
  await connections.update(own.id, { credential_id: await added("chosen") });
  await connections.update(ofProvider.id, { credential_provider: "company" });
  await connections.update(unsaved.id, { save_credentials: false });
  await connections.update(replaced.id, { credential_id: await added("second") });
  for (const row of [own, ofProvider, unsaved, replaced]) await saveEntered({ connections, credentials }, row, entered);
  expect(await Promise.all([own, ofProvider, unsaved, replaced].map(found))).toEqual([
    ["chosen", null],
    [null, "company"],
    [null, null],
    ["second", null],
  ]);
  for (const name of ["first", "chosen", "second"])
    expect((await credentials.open(project.id, name)).values).toEqual({ password: "chosen" });
  expect((await names()).sort()).toEqual([...before, "chosen", "first", "second"].sort());
});

it("deletes its credential when the connection gets another one at the same moment", async () => {
  const before = await names();
  const row = await connected();
  const choosing: typeof credentials.create = async (...given) => {
    const created = await credentials.create(...given);
    await connections.update(row.id, { credential_provider: "company" });
    return created;
  };
  const parts = {
    create: choosing,
    get: credentials.get.bind(credentials),
    update: credentials.update.bind(credentials),
    delete: credentials.delete.bind(credentials),
  };
  await saveEntered({ connections, credentials: parts }, row, entered);
  expect(await found(row)).toEqual([null, "company"]);
  expect(await names()).toEqual(before);
});
