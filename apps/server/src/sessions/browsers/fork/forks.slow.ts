import { Browser, type CreatedApiKey, ForkedBrowsers } from "@shoal/schemas";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";

let server: TestServer;
let site: Server;
let address: string;
const note = `<input name="note" oninput="localStorage.setItem('note', this.value)"><p id="kept"></p>
  <script>kept.textContent = "kept " + localStorage.getItem("note");</script>`;
beforeAll(async () => {
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
  site = createServer((request, response) => {
    if (request.url === "/login") response.setHeader("set-cookie", "user=ada; HttpOnly");
    response
      .setHeader("content-type", "text/html")
      .end(request.url === "/note" ? note : `<title>${request.headers.cookie ?? "no cookie"}</title><input name="q">`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await server.close();
});

async function create(body: object): Promise<Browser> {
  const answer = await server.request("POST", "/browsers", { body: { timeout_seconds: 3600, ...body } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body);
}

async function act(id: string, body: object): Promise<void> {
  const answer = await server.request("POST", `/browsers/${id}/act`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

const outlineOf = async (id: string): Promise<unknown> =>
  (await server.request("POST", `/browsers/${id}/observe`, { body: {} })).body;

it("starts forks with the login, the page and the text of their parent, and leaves no copy of its state", async () => {
  const parent = await create({});
  await act(parent.session_id, { type: "navigate", url: `${address}/login` });
  await act(parent.session_id, { type: "navigate", url: `${address}/form` });
  await act(parent.session_id, { type: "fill", role: "textbox", text: "half a sentence" });
  const { body, status } = await server.request("POST", `/browsers/${parent.session_id}/fork`, { body: { count: 2 } });
  expect(status, JSON.stringify(body)).toBe(200);
  const { browsers } = ForkedBrowsers.parse(body);
  for (const { session_id: id } of [parent, ...browsers])
    expect(await outlineOf(id)).toMatchObject({
      url: `${address}/form`,
      title: "user=ada",
      outline: expect.stringContaining("half a sentence") as unknown,
    });
  expect(readdirSync(join(server.dataDir, "blobs", "profiles"))).toEqual([]);
});

it("refuses keys without the right to create sessions or to use the profile", async () => {
  const projects = await server.request("GET", "/org/projects");
  const projectId = (projects.body as { id: string }[])[0]?.id ?? "";
  const parent = await create({ name: "own" });
  await server.request("POST", "/profiles", { body: { name: "mine" } });
  const withProfile = await create({ profile: { name: "mine" } });
  const keyOf = async (...statements: readonly (readonly [string, string])[]): Promise<string> => {
    const policy = { statements: statements.map(([action, resource]) => ({ action, resource })) };
    const made = await server.request("POST", "/org/api_keys", { body: { name: "limited", policy } });
    return (made.body as CreatedApiKey).key;
  };
  const fork = async (key: string, { session_id: id }: Browser) =>
    (await server.request("POST", `/browsers/${id}/fork`, { body: {}, key })).status;
  const one = `projects/${projectId}/browsers/${parent.session_id}`;
  expect(await fork(await keyOf(["role:operator", one]), parent)).toBe(403);
  expect(await fork(await keyOf(["operation:browsers.fork", one]), parent)).toBe(403);
  expect(await fork(await keyOf(["browsers:use", one]), parent)).toBe(403);
  const all = await keyOf(["browsers:use", `projects/${projectId}/*`], ["browsers:create", `projects/${projectId}/*`]);
  expect(await fork(all, withProfile)).toBe(403);
  expect(await fork(all, parent)).toBe(200);
});

it("hides in a fork a stored value that the page of its parent has kept", async () => {
  const { host } = new URL(address);
  const stored = { name: "notes", domain: host, values: { code: "stored-value-7" } };
  expect((await server.request("POST", "/credentials", { body: stored })).status).toBe(201);
  const parent = await create({});
  await act(parent.session_id, { type: "navigate", url: `${address}/note` });
  const secret = { credential: "notes", field: "code" };
  await act(parent.session_id, { type: "fill", role: "textbox", secret });
  const { body } = await server.request("POST", `/browsers/${parent.session_id}/fork`, { body: {} });
  const [fork] = ForkedBrowsers.parse(body).browsers;
  const text = JSON.stringify(await outlineOf(fork?.session_id ?? ""));
  expect(text).toContain("kept ***");
  expect(text).not.toContain("stored-value-7");
  expect(text).not.toContain("•");
});

it("never saves the profile of its parent", async () => {
  await server.request("POST", "/profiles", { body: { name: "kept" } });
  const parent = await create({ profile: { name: "kept", save_changes: true } });
  const { body } = await server.request("POST", `/browsers/${parent.session_id}/fork`, { body: {} });
  const [fork] = ForkedBrowsers.parse(body).browsers;
  expect(await server.request("POST", `/browsers/${fork?.session_id ?? ""}/profile/save`)).toMatchObject({
    status: 409,
    body: { code: "conflict" },
  });
  const change = { profile: { name: "kept", save_changes: true } };
  expect(await server.request("PATCH", `/browsers/${fork?.session_id ?? ""}`, { body: change })).toMatchObject({
    status: 409,
  });
  expect((await server.request("DELETE", `/browsers/${fork?.session_id ?? ""}`)).status).toBe(204);
  expect((await server.request("GET", "/profiles/kept/versions")).body).toEqual([]);
});

it("admits as many forks as the project may have sessions", async () => {
  const parent = await create({});
  const projects = await server.request("GET", "/org/projects");
  const projectId = (projects.body as { id: string }[])[0]?.id ?? "";
  const running = ((await server.request("GET", "/browsers")).body as unknown[]).length;
  const set = (value: number) =>
    server.request("PATCH", `/org/projects/${projectId}/limits`, { body: { max_concurrent_sessions: value } });
  expect((await set(running + 1)).status).toBe(200);
  const { body, status } = await server.request("POST", `/browsers/${parent.session_id}/fork`, { body: { count: 3 } });
  expect(status, JSON.stringify(body)).toBe(200);
  const { browsers, errors = [] } = ForkedBrowsers.parse(body);
  expect([browsers.length, errors.map(({ code }) => code)]).toEqual([1, ["too_many_requests", "too_many_requests"]]);
  expect(await server.request("POST", `/browsers/${parent.session_id}/fork`, { body: {} })).toMatchObject({
    status: 429,
    body: { code: "too_many_requests" },
  });
});
