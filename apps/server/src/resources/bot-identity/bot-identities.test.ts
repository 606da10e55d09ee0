import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface Identity {
  readonly keys: readonly { readonly key_id: string; readonly retires_at: string | null }[];
}

async function identity(key: string | undefined, method = "GET", path = "/bot_identity"): Promise<Identity> {
  const { body, status } = await server.request(method, path, key === undefined ? {} : { key });
  expect(status).toBe(200);
  return body as Identity;
}

it("has another key for each project, replaces it with an overlap, and deletes it with the project", async () => {
  const { body: project } = await server.request("POST", "/org/projects", { body: { name: "second" } });
  const { id } = project as { id: string };
  const { body: made } = await server.request("POST", "/org/api_keys", { body: { name: "k", project_id: id } });
  const { key } = made as { key: string };
  // Both at once: one key results.
  const [first, same] = await Promise.all([identity(key), identity(key)]);
  expect(first).toEqual(same);
  const other = await identity(undefined);
  expect(other.keys[0]?.key_id).not.toBe(first.keys[0]?.key_id);
  const rotated = await identity(key, "POST", "/bot_identity/rotate");
  expect(rotated.keys.map(({ key_id }) => key_id)).toContain(first.keys[0]?.key_id);
  expect(rotated.keys.map(({ retires_at }) => retires_at === null)).toEqual([true, false]);
  await Promise.all(Array.from({ length: 12 }, () => identity(key, "POST", "/bot_identity/rotate")));
  expect((await identity(key)).keys).toHaveLength(10);
  expect((await server.request("DELETE", `/org/projects/${id}`)).status).toBe(204);
  const directory = await fetch(`${server.baseUrl}/.well-known/http-message-signatures-directory`);
  const { keys } = (await directory.json()) as { keys: { kid: string }[] };
  expect(keys.map(({ kid }) => kid)).toEqual([other.keys[0]?.key_id]);
});
