import { once } from "node:events";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ForgingInstances, forgingInstances } from "../../testing/forging-instances.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let instances: ForgingInstances;
let server: TestServer;
/** A tenant that uses the service at the same time. */
let other: { readonly key: string };
let browserId: string;
beforeAll(async () => {
  instances = await forgingInstances();
  server = await startTestServer({}, { aroundPlacement: instances.around });
  other = await server.addProject("other");
  expect((await server.request("POST", "/profiles", { body: { name: "hostile" } })).status).toBe(201);
});
afterAll(async () => {
  await server.close();
  instances.close();
});

/** Counts the sequential calls of another tenant that are answered before the hostile call. */
async function callsDuring(hostile: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  const settled = hostile.finally(() => {
    state.isOver = true;
  });
  let calls = 0;
  for (; !state.isOver; calls += 1)
    expect((await server.request("GET", "/browsers", { key: other.key })).status).toBe(200);
  await settled;
  return calls;
}

function tarHeader(name: string, sizeBytes: number, type = "0"): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, "utf8");
  header.write(`0000600\0${"0000000\0".repeat(2)}`, 100, "latin1");
  header.write(`${sizeBytes.toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0        ${type}`, 124, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

function stateArchive(text: string): Buffer {
  const content = Buffer.from(text);
  return Buffer.concat([
    tarHeader("shoal/state.json", content.length),
    content,
    Buffer.alloc(1024 + ((512 - (content.length % 512)) % 512)),
  ]);
}

async function save(archive: Buffer): Promise<void> {
  instances.forge("GET /_instance/profile", (response) => response.end(archive));
  const profile = { name: "hostile", save_changes: true };
  const { status, body } = await server.request("POST", "/browsers", { body: { profile } });
  expect(status).toBe(200);
  browserId = (body as { session_id: string }).session_id;
  expect((await server.request("POST", `/browsers/${browserId}/profile/save`)).status).toBe(200);
}

const getState = (signal?: AbortSignal) =>
  server.request("GET", "/profiles/hostile/storage_state", signal ? { signal } : {});

it("serves other tenants while it reads a state of maximum size", async () => {
  const items = Array.from({ length: 190_000 }, () => '{"name":"","value":""}').join(",");
  await save(
    zstdCompressSync(
      stateArchive(
        `{"version":1,"apply":"all","cookies":[],"origins":[{"origin":"https://a.example","localStorage":[${items}]}]}`,
      ),
    ),
  );
  const hostile = fetch(`${server.baseUrl}/profiles/hostile/storage_state`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  expect(await callsDuring(hostile)).toBeGreaterThan(2);
  expect((await (await hostile).arrayBuffer()).byteLength).toBeGreaterThan(4_000_000);
  expect((await server.request("DELETE", `/browsers/${browserId}`)).status).toBe(204);
});

it.each([
  [
    "two million empty origins",
    stateArchive(`{"version":1,"apply":"all","cookies":[],"origins":[${"{},".repeat(2_000_000)}{}]}`),
  ],
  [
    "headers that describe nothing",
    Buffer.concat(Array.from({ length: 100_000 }, () => tarHeader("PaxHeader", 0, "x"))),
  ],
])("rejects a small archive with %s, with a hint", async (_what, archive) => {
  await save(zstdCompressSync(archive));
  const answered = getState();
  await callsDuring(answered);
  expect(await answered).toMatchObject({
    status: 409,
    body: { code: "conflict", message: expect.stringContaining("profiles.rollback") as string },
  });
  expect((await server.request("DELETE", `/browsers/${browserId}`)).status).toBe(204);
});

it("serves other tenants while it reads a long telemetry history, and skips invalid lines", async () => {
  const event = (seq: number) => ({
    seq,
    event: {
      ts: Date.now() * 1000,
      type: "console_log",
      category: "console",
      source: { kind: "cdp" },
      data: { text: "x".repeat(1000), args: ["y"] },
    },
  });
  const nested = `{"seq":1,"event":{"ts":${String(Date.now() * 1000)},"type":"console_log","category":"console","source":{"kind":"cdp"},"data":{"text":[${"[],".repeat(300_000)}[]]}}}\n`;
  const written = Promise.withResolvers<undefined>();
  instances.forge("GET /_instance/telemetry", (response) => {
    void (async () => {
      for (let count = 0; count < 20; count += 1) response.write(nested);
      for (let seq = 1; seq <= 15_000; seq += 1)
        if (!response.write(`${JSON.stringify(event(seq))}\n`)) await once(response, "drain");
      response.end();
      written.resolve(undefined);
    })();
  });
  const { status, body } = await server.request("POST", "/browsers", {
    body: { telemetry: { browser: { console: { enabled: true } } } },
  });
  expect(status).toBe(200);
  const id = (body as { session_id: string }).session_id;
  await written.promise;
  const query = (order: string) => `/browsers/${id}/telemetry/events?limit=100&category=network&order=${order}`;
  await expect
    .poll(async () => (await server.request("GET", `/browsers/${id}/telemetry/events?order=desc&limit=1`)).body)
    .toMatchObject([{ seq: 15_000 }]);
  expect(await callsDuring(server.request("GET", query("desc")))).toBeGreaterThan(2);
  const first = await server.request("GET", `/browsers/${id}/telemetry/events?offset=0&limit=1`);
  expect(first).toMatchObject({
    status: 200,
    body: [{ seq: 1, event: { data: { text: "x".repeat(1000), args: ["y"] } } }],
  });
});

it("ends a telemetry stream of empty lines", async () => {
  let closed = false;
  instances.forge("GET /_instance/telemetry", (response) => {
    response.on("close", () => (closed = true));
    const push = (): void => {
      while (response.write("\n".repeat(65_536)));
    };
    response.on("drain", push);
    push();
  });
  const { status } = await server.request("POST", "/browsers", {
    body: { telemetry: { browser: { console: { enabled: true } } } },
  });
  expect(status).toBe(200);
  await expect.poll(() => closed).toBe(true);
  expect(server.log()).toContain("The lines of telemetry are too short for events.");
});
