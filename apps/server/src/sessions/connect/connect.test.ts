import { Browser } from "@shoal/schemas";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type CdpClient, connectCdp } from "../../testing/cdp-client.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let project: { id: string; key: string };
/** Id of a running session of another project. */
let otherSession: string;
beforeAll(async () => {
  server = await startTestServer({ secret_key: sharedSecret, max_sessions_per_project: 2 });
  project = await server.addProject("shop");
  const { key } = await server.addProject("other");
  const opened = await server.request("POST", "/browsers", { key, body: { timeout_seconds: 3600 } });
  otherSession = Browser.parse(opened.body).session_id;
});
afterAll(() => server.close());

const clients: CdpClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const { session_id: id } of await running())
    await server.request("DELETE", `/browsers/${id}`, { key: project.key });
});

const running = async (key = project.key) =>
  ((await server.request("GET", "/browsers", { key })).body as unknown[]).map((browser) => Browser.parse(browser));
const endOf = (id: string) =>
  eventually("the session has ended", async () => {
    const { body } = await server.request("GET", `/browsers/${id}?include_deleted=true`, { key: project.key });
    return Browser.parse(body).ended_reason;
  });
const socketOf = (path: string, base = server.baseUrl) => base.replace(/^http/, "ws") + path;

async function open(path: string, base?: string): Promise<CdpClient> {
  const client = await connectCdp(socketOf(path, base));
  clients.push(client);
  expect(await client.send("Browser.getVersion")).toHaveProperty("product");
  return client;
}

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

async function refused(path: string, headers: Readonly<Record<string, string>> = {}) {
  const asking = httpRequest(server.baseUrl + path, { headers: { ...handshake, ...headers }, agent: false }).end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return { status: answer.statusCode, type: answer.headers["content-type"], sentence: await text(answer) };
}

/** Sends a handshake, and nothing else. */
async function dial(path: string): Promise<Socket> {
  const socket = connect(Number(new URL(server.baseUrl).port), "127.0.0.1").on("error", () => undefined);
  await once(socket, "connect");
  const headers = Object.entries(handshake).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: shoal.test\r\n${headers.join("")}\r\n`);
  return socket;
}

async function version(path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(server.baseUrl + path, { headers });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

it("creates a session for a connection, and ends it after its last client", async () => {
  const client = await open(`/?token=${project.key}&disconnect_timeout_seconds=0&tags.team=docs`);
  const [session] = await running();
  expect(session).toMatchObject({ tags: { team: "docs" }, disconnect_timeout_seconds: 0, connect_timeout_seconds: 60 });
  expect(await running(server.key)).toEqual([]);
  const second = await connectCdp(session?.cdp_ws_url ?? "");
  client.close();
  await client.closed;
  expect(await second.send("Browser.getVersion")).toHaveProperty("product");
  second.close();
  expect(await endOf(session?.session_id ?? "")).toBe("disconnected");
});

it("keeps a session of an address with keep_alive, and joins it by its id", async () => {
  const client = await open(`/cdp?apiKey=${project.key}&keep_alive=true`);
  client.close();
  await client.closed;
  const [session] = await running();
  expect(session).not.toHaveProperty("disconnect_timeout_seconds");
  await open(`/?token=${project.key}&sessionId=${session?.session_id ?? ""}`);
  expect(await running()).toHaveLength(1);
});

it("shares a session between clients of one name that connect at once", async () => {
  const path = `/?token=${project.key}&name=research`;
  await Promise.all([open(path), open(path), open(path)]);
  expect((await running()).map(({ name }) => name)).toEqual(["research"]);
  expect(await refused(`${path}&isolation=context`)).toMatchObject({
    status: 409,
    sentence: expect.stringContaining("runs with another setting: isolation") as unknown,
  });
  expect((await refused(`${path}&allow=example.com`)).sentence).toContain(
    "allow, allowed_hosts, deny or private_hosts",
  );
});

it("describes a browser without creating one, and answers the holder of a key with a ticket", async () => {
  const unkeyed = await version("/json/version");
  expect(unkeyed.body).toMatchObject({
    Browser: expect.stringMatching(/^Chrome\//) as unknown,
    webSocketDebuggerUrl: socketOf("/devtools/browser"),
  });
  const found = await version(`/json/version/?token=${project.key}&name=by-ticket`);
  const address = found.body.webSocketDebuggerUrl ?? "";
  expect(address).not.toContain(project.key);
  expect(await running()).toEqual([]);
  const path = address.slice(socketOf("").length);
  await Promise.all([open(path), open(path)]);
  expect((await running()).map(({ name }) => name)).toEqual(["by-ticket"]);

  const headers = { authorization: `Bearer ${project.key}` };
  const unnamed = (await version("/json/version", headers)).body.webSocketDebuggerUrl ?? "";
  const one = await open(unnamed.slice(socketOf("").length));
  await open(unnamed.slice(socketOf("").length));
  expect(await running()).toHaveLength(2);
  one.close();
});

async function ticketOf(query = ""): Promise<string> {
  const { body } = await version(`/json/version?token=${project.key}${query}`);
  return (body.webSocketDebuggerUrl ?? "").slice(socketOf("").length);
}

it("opens with a ticket the session that it was issued for, and no other", async () => {
  await open(`/?token=${project.key}&name=kept`);
  const [kept] = await running();
  const path = await ticketOf();
  for (const setting of ["name=kept", `sessionId=${kept?.session_id ?? ""}`, "proxy=none", "profile=bank"])
    expect(await refused(`${path}&${setting}`), setting).toMatchObject({
      status: 400,
      sentence: expect.stringContaining("issued with another value") as unknown,
    });
  const authorization = `Bearer ${project.key}`;
  expect((await refused(`${path}&proxy=none`, { authorization })).status).toBe(404);
  expect((await refused(`${path}&proxy=none`, { authorization: `Bearer ${server.key}` })).status).toBe(400);
  expect(await running()).toHaveLength(1);
  await open(`${await ticketOf("&name=kept")}&name=kept`);
  expect(await running()).toHaveLength(1);
});

it("does not open a later session of the same name with an old ticket", async () => {
  const path = await ticketOf("&name=again&keep_alive=true");
  const present = await ticketOf("&name=present");
  await open(`/?token=${project.key}&name=present`);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });
  try {
    expect((await refused(path)).sentence).toContain("ticket of this address has expired");
    await open(`/?token=${project.key}&name=again`);
    expect((await refused(path)).sentence).toContain("ticket of this address has expired");
    await open(present);
  } finally {
    vi.useRealTimers();
  }
  expect(await running()).toHaveLength(2);
});

it.each<[string, string, Record<string, string>, [number, string]]>([
  ["no key", "/", {}, [401, "Authorization"]],
  ["a wrong key", "/?token=sk_shoal_wrong", {}, [401, "not an API key"]],
  ["two keys", "/?token=KEY&apiKey=other", {}, [400, "two keys that differ"]],
  ["an unknown setting", "/?token=KEY&proxyCountry=US", {}, [400, '"proxyCountry" is not a setting']],
  ["a dangerous argument", `/?token=KEY&launch={"args":["--user-data-dir=/"]}`, {}, [400, "cannot be passed"]],
  ["a session of another project", "/?token=KEY&sessionId=OTHER", {}, [404, "was not found"]],
  ["another project", "/?token=KEY&project=default", {}, [403, "project"]],
  ["a proxy that does not exist", "/?token=KEY&proxy=none", {}, [404, "none"]],
  ["a region that does not exist", "/?token=KEY&region=moon", {}, [400, "moon"]],
  ["a forged ticket", "/devtools/browser?ticket=e30.AAAA", {}, [401, "ticket of this address is not valid"]],
  ["a page of another site", "/?token=KEY", { origin: "https://attacker.example" }, [403, "may not connect"]],
  ["a page without an origin", "/?token=KEY", { origin: "null" }, [403, "may not connect"]],
])("refuses %s with a sentence, and creates nothing", async (_what, path, headers, [status, sentence]) => {
  const asked = path.replace("KEY", project.key).replace("OTHER", otherSession);
  const answer = await refused(encodeURI(asked), headers);
  expect(answer).toEqual({
    status,
    type: "text/plain; charset=utf-8",
    sentence: expect.stringContaining(sentence) as unknown,
  });
  expect(answer.sentence).not.toContain(project.key);
  expect(await running()).toEqual([]);
});

it("refuses a head that is too long", async () => {
  expect(
    (await refused(`/?token=${project.key}&launch=${"x".repeat(2_000_000)}`).catch(() => ({ status: 431 }))).status,
  ).toBe(431);
});

it("waits for a place, in the order of the clients, and gives up when a client goes", async () => {
  const path = `/?token=${project.key}&disconnect_timeout_seconds=0`;
  const [first] = await Promise.all([open(path), open(path)]);
  expect(await refused(`${path}&acquire_timeout_seconds=0`)).toMatchObject({
    status: 429,
    sentence: expect.stringContaining("the limit is 2") as unknown,
  });
  const gone = await Promise.all(Array.from({ length: 20 }, () => dial(`${path}&tags.part=gone`)));
  for (const socket of gone) socket.end();
  await Promise.all(gone.map((socket) => once(socket, "close")));
  const waiting = open(`${path}&tags.part=waiting`);
  first.close();
  await waiting;
  expect((await running()).filter(({ tags }) => tags?.part === "gone")).toEqual([]);
  expect((await running()).filter(({ tags }) => tags?.part === "waiting")).toHaveLength(1);
});

it("never writes a key or a ticket to the log or the audit log", async () => {
  const began = new Date(Date.now() - 600_000).toISOString();
  const { body } = await version(`/json/version?token=${project.key}`);
  const ticket = new URL(body.webSocketDebuggerUrl ?? "").searchParams.get("ticket") ?? "";
  await open(`/devtools/browser?ticket=${ticket}`);
  await refused(`/?token=${project.key}&nothing=1`);
  await refused(`/?token=sk_shoal_neverlogged`);
  await fetch(`${server.baseUrl}/json/unknown?token=${project.key}`);
  const audit = await eventuallyPasses(async () => {
    const found = JSON.stringify(
      (
        await server.request(
          "GET",
          `/audit-logs?limit=100&start=${began}&end=${new Date(Date.now() + 60_000).toISOString()}`,
        )
      ).body,
    );
    expect(found).toContain("browsers.cdp.connect");
    return found;
  });
  expect(audit).toContain('"browsers.create"');
  for (const secret of [project.key, ticket, "sk_shoal_neverlogged"]) {
    expect(server.log()).not.toContain(secret);
    expect(audit).not.toContain(secret);
  }
});

it("reaches a session of another server by its name and by its ticket", async () => {
  const second = await startSecondServer(server);
  try {
    const named = `/?token=${project.key}&name=shared`;
    await open(named);
    await open(named, second.baseUrl);
    const { body } = await version(`/json/version?token=${project.key}`);
    const path = (body.webSocketDebuggerUrl ?? "").slice(socketOf("").length);
    await open(path, second.baseUrl);
    await open(path);
    expect(await running()).toHaveLength(2);
  } finally {
    for (const client of clients.splice(0)) client.close();
    await second.close();
  }
});

it("creates a session in a shared browser", async () => {
  const client = await open(`/?token=${project.key}&isolation=context&disconnect_timeout_seconds=0`);
  const [session] = await running();
  expect(session?.isolation).toBe("context");
  client.close();
  expect(await endOf(session?.session_id ?? "")).toBe("disconnected");
});

it("ends a session that no client reaches in time, and changes its timeout", async () => {
  const create = async (body: object) =>
    Browser.parse((await server.request("POST", "/browsers", { key: project.key, body })).body);
  const [lonely, changed] = await Promise.all([
    create({ connect_timeout_seconds: 5, timeout_seconds: 600 }),
    create({ disconnect_timeout_seconds: 600, timeout_seconds: 600 }),
  ]);
  const path = `/browsers/${changed.session_id}`;
  const kept = await server.request("PATCH", path, { key: project.key, body: { disconnect_timeout_seconds: null } });
  expect(kept.body).not.toHaveProperty("disconnect_timeout_seconds");
  await server.request("PATCH", path, { key: project.key, body: { disconnect_timeout_seconds: 0 } });
  expect(await endOf(changed.session_id)).toBe("disconnected");
  expect(await endOf(lonely.session_id)).toBe("disconnected");
});
