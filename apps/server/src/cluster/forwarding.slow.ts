import { Browser } from "@shoal/schemas";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import { createId } from "@shoal/primitives";
import { eventuallyPasses } from "@shoal/testkit";
import type { RunningServer } from "../main/running-server.ts";
import { connectCdp } from "../testing/cdp-client.ts";
import { sharedSecret, startSecondServer } from "../testing/second-server.ts";
import { sessionRow } from "../testing/session-row.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { refusedUpgrade } from "../testing/upgrade.ts";

let first: TestServer;
let second: RunningServer;
/** Runs on the second server; requests go to the first. */
let session: Browser;
let project: { id: string; key: string };
let stranger: { id: string; key: string };

interface Init {
  readonly method?: string;
  readonly body?: string | Buffer<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}
function send(baseUrl: string, path: string, { method = "GET", body, headers }: Init): Promise<Response> {
  return fetch(baseUrl + path, {
    method,
    ...(body !== undefined && { body }),
    headers: {
      authorization: `Bearer ${project.key}`,
      ...(typeof body === "string" && { "content-type": "application/json" }),
      ...headers,
    },
  });
}
const there = (path: string, init: Init = {}) => send(second.baseUrl, path, init);
const here = (path: string, init: Init = {}) => send(first.baseUrl, path, init);
const create = async (body: object = {}) =>
  Browser.parse(await (await there("/browsers", { method: "POST", body: JSON.stringify(body) })).json());

beforeAll(async () => {
  first = await startTestServer({ secret_key: sharedSecret });
  second = await startSecondServer(first);
  project = await first.addProject("project");
  stranger = await first.addProject("stranger");
  // Until the first server knows the second one and its address.
  session = await create({ name: "elsewhere", timeout_seconds: 600, tags: { a: "b" }, telemetry: { enabled: true } });
  await eventuallyPasses(async () => {
    expect((await here(`/browsers/${session.session_id}`)).status).toBe(200);
  });
});
afterAll(async () => {
  await second.close(1000);
  await first.close();
});

it("reads and writes files of a session on another server, including large ones", async () => {
  const content = randomBytes(24 * 2 ** 20);
  const path = `/browsers/${session.session_id}/fs`;
  expect(
    (
      await here(`${path}/write_file?path=/home/shoal/large`, {
        method: "PUT",
        body: content,
        headers: { "content-type": "application/octet-stream" },
      })
    ).status,
  ).toBe(201);
  const read = await here(`${path}/read_file?path=/home/shoal/large`);
  expect(
    createHash("sha256")
      .update(Buffer.from(await read.arrayBuffer()))
      .digest("hex"),
  ).toBe(createHash("sha256").update(content).digest("hex"));
  const missing = await here(`${path}/read_file?path=/nothing`, { headers: { "x-request-id": "the-same-on-both" } });
  expect([
    missing.status,
    missing.headers.get("x-request-id"),
    ((await missing.json()) as { code: string }).code,
  ]).toEqual([404, "the-same-on-both", "not_found"]);
});

it("finds it by name, and hides it from other projects", async () => {
  expect((await here("/browsers/elsewhere/fs/list_files?path=/")).status).toBe(200);
  for (const name of ["elsewhere", session.session_id]) {
    for (const path of [
      `/browsers/${name}`,
      `/browsers/${name}/fs/list_files?path=/`,
      `/browsers/${name}/telemetry/events`,
      `/browsers/${name}/replays`,
    ]) {
      expect((await here(path, { headers: { authorization: `Bearer ${stranger.key}` } })).status, path).toBe(404);
      expect((await here(path, { headers: { authorization: "Bearer sk_shoal_x" } })).status, path).toBe(401);
    }
  }
});

it("returns URLs with the address that the client used", async () => {
  const browser = Browser.parse(await (await here(`/browsers/${session.session_id}`)).json());
  expect(browser.base_url).toBe(`${first.baseUrl}/sessions/${session.session_id}`);
  expect(browser.cdp_ws_url.startsWith(first.baseUrl.replace("http", "ws"))).toBe(true);
  expect(browser.telemetry?.browser?.control).toEqual({ enabled: true });
  const version = (await (await here(`/browsers/${session.session_id}/json/version`)).json()) as {
    webSocketDebuggerUrl: string;
  };
  expect(version.webSocketDebuggerUrl.startsWith(first.baseUrl.replace("http", "ws"))).toBe(true);
});

it("changes it, returns its telemetry, and shows its live fields in lists", async () => {
  const changed = Browser.parse(
    await (
      await here("/browsers/elsewhere", {
        method: "PATCH",
        body: JSON.stringify({
          tags: { c: "d" },
          telemetry: { enabled: true, browser: { console: { enabled: true }, platform: { enabled: true } } },
        }),
      })
    ).json(),
  );
  expect([changed.tags, changed.telemetry?.browser?.console]).toEqual([{ c: "d" }, { enabled: true }]);
  const refused = await here("/browsers/elsewhere", { method: "PATCH", body: JSON.stringify({ tags: 1 }) });
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([400, "bad_request"]);
  await here("/browsers/elsewhere/fs/list_files?path=/");
  await expect
    .poll(
      async () =>
        ((await (await here(`/browsers/${session.session_id}/telemetry/events?since=1h`)).json()) as unknown[]).length,
    )
    .toBeGreaterThan(0);
  const own = Browser.parse((await first.request("POST", "/browsers", { key: project.key })).body);
  await expect
    .poll(async () => {
      const listed = z.array(Browser).parse(await (await here("/browsers")).json());
      return [session, own].map(
        ({ session_id }) => listed.find((one) => one.session_id === session_id)?.expires_at !== undefined,
      );
    })
    .toEqual([true, true]);
  await first.request("DELETE", `/browsers/${own.session_id}`, { key: project.key });
});

it("starts, lists and ends recordings on the server of the session", async () => {
  const started = await here(`/browsers/${session.session_id}/replays`, { method: "POST", body: "{}" });
  const replay = (await started.json()) as { replay_id: string; replay_view_url: string };
  expect([started.status, replay.replay_view_url.startsWith(first.baseUrl)], JSON.stringify(replay)).toEqual([
    201,
    true,
  ]);
  expect(
    (await here(`/browsers/${session.session_id}/replays/${replay.replay_id}/stop`, { method: "POST" })).status,
  ).toBeLessThan(300);
  expect(
    ((await (await here(`/browsers/${session.session_id}/replays`)).json()) as { replay_id: string }[]).map(
      ({ replay_id }) => replay_id,
    ),
  ).toEqual([replay.replay_id]);
  const film = await eventuallyPasses(async () => {
    const answer = await here(`/browsers/${session.session_id}/replays/${replay.replay_id}`);
    expect(answer.status).toBe(200);
    return answer;
  });
  expect((await film.arrayBuffer()).byteLength).toBeGreaterThan(100);
});

it("audits each change once, with the address of the client", async () => {
  const requestId = `once-${createId()}`;
  await here("/browsers/elsewhere", {
    method: "PATCH",
    body: JSON.stringify({ tags: { c: "e" } }),
    headers: { "x-request-id": requestId },
  });
  const entries = () =>
    first.database.query
      .selectFrom("audit_logs")
      .select(["operation", "project_id", "status"])
      .where("request_id", "=", requestId)
      .execute();
  await expect.poll(entries).toEqual([{ operation: "browsers.update", project_id: project.id, status: 200 }]);
});

it("connects CDP clients, and reports why a connection is rejected", async () => {
  const { cdp_ws_url } = Browser.parse(await (await here(`/browsers/${session.session_id}`)).json());
  const client = await connectCdp(cdp_ws_url);
  expect(await client.send("Browser.getVersion")).toHaveProperty("product");
  const large = "x".repeat(3_000_000);
  const { targetInfos } = (await client.send("Target.getTargets")) as {
    targetInfos: { type: string; targetId: string }[];
  };
  const { sessionId } = await client.send("Target.attachToTarget", {
    targetId: targetInfos.find(({ type }) => type === "page")?.targetId,
    flatten: true,
  });
  expect(await client.send("Runtime.evaluate", { expression: `"${large}".length` }, sessionId)).toMatchObject({
    result: { value: 3_000_000 },
  });
  client.close();
  await client.closed;
  const { browser_live_view_url = "", webdriver_ws_url } = Browser.parse(
    await (await here(`/browsers/${session.session_id}`)).json(),
  );
  for (const url of [webdriver_ws_url, `${browser_live_view_url.replace("http", "ws")}/socket`]) {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => {
        reject(new Error(`Cannot connect to ${url}.`));
      });
    });
    socket.close();
  }
  expect(
    await refusedUpgrade(`${first.baseUrl}/browsers/${session.session_id}/process/nothing/attach`, {
      authorization: `Bearer ${project.key}`,
    }),
  ).toMatchObject({ status: 404 });
  expect(
    await refusedUpgrade(`${first.baseUrl}/browsers/${session.session_id}/process/nothing/attach`, {
      authorization: `Bearer ${stranger.key}`,
    }),
  ).toMatchObject({ status: 404, body: { code: "not_found" } });
});

it("streams events as they arrive, and ends the stream on both servers when the client disconnects", async () => {
  const events = await here(`/browsers/${session.session_id}/telemetry/stream`, {
    headers: { accept: "text/event-stream" },
  });
  expect(events.headers.get("content-type")).toContain("text/event-stream");
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
  const seen = (async () => {
    let said = "";
    while (!said.includes("listFiles")) {
      const next = await reader?.read();
      if (next === undefined || next.done) break;
      said += next.value;
    }
    return said;
  })();
  await here(`/browsers/${session.session_id}/fs/list_files?path=/`);
  expect(await seen).toContain("browsers.fs.listFiles");
  await reader?.cancel();
});

it("applies backpressure to a body", async () => {
  const size = 200 * 2 ** 20;
  expect(
    (
      await here(`/browsers/${session.session_id}/process/exec`, {
        method: "POST",
        body: JSON.stringify({ command: "truncate", args: ["-s", String(size), "sparse"] }),
      })
    ).status,
  ).toBe(200);
  const request = httpRequest(`${first.baseUrl}/browsers/${session.session_id}/fs/read_file?path=/home/shoal/sparse`, {
    headers: { authorization: `Bearer ${project.key}` },
  }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.pause();
  const before = process.memoryUsage().rss;
  // Time for bytes that would arrive without backpressure. Both servers are in this process.
  const unreadMs = 1_000;
  await delay(unreadMs);
  expect(process.memoryUsage().rss - before).toBeLessThan(size / 2);
  response.destroy();
});

it("accepts forwarded requests only from servers of its database", async () => {
  const path = `/browsers/${session.session_id}`;
  const forged = Buffer.from(
    JSON.stringify({
      to: "x",
      method: "GET",
      path,
      at: Date.now() / 1000,
      baseUrl: "",
      clientIp: "",
      access: {
        key: { id: "a", name: "a", project_id: null, created_by_email: "", deployment_id: null, expiresAtMs: null },
        projectId: project.id,
      },
    }),
  ).toString("base64url");
  for (const proof of ["", "x", `${forged}.`, `${forged}.${"A".repeat(43)}`]) {
    const answer = await fetch(second.baseUrl + path, { headers: { "x-shoal-replica": proof } });
    expect(answer.status, proof).toBe(401);
    // A valid key makes no difference.
    expect((await there(path, { headers: { "x-shoal-replica": proof } })).status, proof).toBe(401);
  }
  // Neither does the token of a session.
  const token = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  expect(
    (await fetch(`${second.baseUrl}${path}/fs/list_files?path=/&jwt=${token}`, { headers: { "x-shoal-replica": "x" } }))
      .status,
  ).toBe(401);
  expect(
    (
      await fetch(`${second.baseUrl}${path}/fs/create_directory?jwt=${token}`, {
        method: "PUT",
        body: JSON.stringify({ path: "/home/shoal/x" }),
        headers: { "content-type": "application/json", "x-shoal-replica": "x" },
      })
    ).status,
  ).toBe(401);
  expect((await fetch(`${second.baseUrl}/_replicas/live-fields`, { method: "POST", body: "[]" })).status).toBe(404);
  expect(
    (
      await fetch(`${second.baseUrl}/_replicas/proof`, {
        headers: { "x-shoal-nonce": "n".repeat(32), "x-shoal-address": "http://elsewhere.example" },
      })
    ).status,
  ).toBe(404);
});

it("sends nothing to another program at the address of a server", async () => {
  const received: string[] = [];
  const impostor = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      received.push(chunk.toString());
      socket.end(`HTTP/1.1 204 No Content\r\nx-shoal-proof: ${"A".repeat(43)}\r\n\r\n`);
    });
  }).listen(0, "127.0.0.1");
  await once(impostor, "listening");
  const { port } = impostor.address() as AddressInfo;
  const id = createId();
  const other = createId();
  await first.database.query
    .insertInto("servers")
    .values({
      id: other,
      life: createId(),
      address: `http://127.0.0.1:${String(port)}`,
      version: null,
      secret_check: null,
      heartbeat_at: new Date(Date.now() + 3_600_000),
    })
    .execute();
  await first.database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id,
        project_id: project.id,
        server_id: other,
      }),
    )
    .execute();
  // Its heartbeat must continue, or its sessions would end.
  const beats = setInterval(
    () =>
      void first.database.query
        .updateTable("servers")
        .set({ heartbeat_at: new Date(Date.now() + 3_600_000) })
        .where("id", "=", other)
        .execute()
        .catch(() => undefined),
    500,
  );
  try {
    await expect
      .poll(
        async () =>
          ((await (await here(`/browsers/${id}/fs/list_files?path=/`)).json()) as { message: string }).message,
      )
      .toContain("Another server or another program answered");
    const answer = await here(`/browsers/${id}/fs/list_files?path=/`);
    expect([
      answer.status,
      answer.headers.get("retry-after"),
      ((await answer.json()) as { code: string }).code,
    ]).toEqual([503, "2", "server_unreachable"]);
    // The database is still available.
    expect((await here(`/browsers/${id}`)).status).toBe(200);
    expect(received.join("")).not.toMatch(/sk_shoal|fs\/list_files|x-shoal-replica/);
  } finally {
    clearInterval(beats);
    impostor.close();
    await first.database.query.deleteFrom("sessions").where("id", "=", id).execute();
    await first.database.query.deleteFrom("servers").where("id", "=", other).execute();
  }
});

it("fills values of a vault, whose request names the session in its body", async () => {
  const post = (body: object) => ({ method: "POST", body: JSON.stringify(body) });
  await here("/vaults", post({ name: "logins" }));
  const fields = [{ name: "pin", type: "password", value: "canary-pin" }];
  const spec = { provider: "kernel", sites: ["127.0.0.1"], fields };
  const item = "/vaults/logins/items/shop";
  expect((await here(item, { ...post({ type: "credential", spec }), method: "PUT" })).status).toBe(200);
  const { session_id: browser_id } = await create({ vaults: [{ name: "logins" }] });
  const bindings = [{ field: "pin", selector: "input" }];
  const filled = await here(`${item}/operations`, post({ type: "fill", browser_id, fields: bindings }));
  expect(await filled.json()).toEqual({
    type: "fill",
    status: "failed",
    fields: [{ index: 0, status: "failed", error_code: "element_not_found" }],
  });
  const address = "http://127.0.0.1:1/elsewhere";
  const other = await here(
    `${item}/operations`,
    post({ type: "fill", browser_id, page_url: address, fields: bindings }),
  );
  expect([other.status, await other.json()]).toMatchObject([409, { field: "body.page_url" }]);
  expect(await (await here(`${item}/events`)).json()).toMatchObject([
    { name: "created" },
    { name: "fill_failed", browser_id },
  ]);
});

it("ends it", async () => {
  const gone = await create();
  expect((await here(`/browsers/${gone.session_id}`, { method: "DELETE" })).status).toBe(204);
  expect((await there(`/browsers/${gone.session_id}`)).status).toBe(404);
  expect(await (await here(`/browsers/${gone.session_id}?include_deleted=true`)).json()).toMatchObject({
    ended_reason: "deleted",
  });
  expect((await here(`/browsers/${gone.session_id}/fs/list_files?path=/`)).status).toBe(404);
});

it("breaks off with the server", async () => {
  const port = Number(new URL(first.baseUrl).port);
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    `GET /browsers/${session.session_id}/telemetry/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.key}\r\nConnection: close\r\n\r\n`,
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(head.toString()).toContain("200 OK");
  const ended = once(socket, "close");
  socket.resume();
  await second.close(0);
  await ended;
  // Requests fail until the server has deregistered, a moment later.
  await expect
    .poll(async () => await (await here(`/browsers/${session.session_id}/fs/list_files?path=/`)).text())
    .toContain("server_stopped");
  const left = await here(`/browsers/${session.session_id}/telemetry/events`);
  expect([left.status, ((await left.json()) as { code: string }).code]).toEqual([503, "server_unreachable"]);
});
