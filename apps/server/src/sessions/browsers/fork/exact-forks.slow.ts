import { examineHost } from "@shoal/placement";
import { Browser, ForkedBrowsers } from "@shoal/schemas";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";

const { findings } = await examineHost();
const reason = findings.find(({ name }) => name === "forks")?.advice;

const page = `<title>Trip</title><label>To <input></label><p id="made"></p><script>
  made.textContent = "made " + Math.random();
  setInterval(() => fetch("/seen?" + crypto.getRandomValues(new Uint32Array(2)).join("-")), 100);
</script>`;

let server: TestServer;
let site: Server;
let address: string;
const seen = new Set<string>();

async function create(body: object): Promise<Browser> {
  const answer = await server.request("POST", "/browsers", { body: { timeout_seconds: 600, ...body } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body);
}

async function outlineOf(id: string): Promise<string> {
  const { body, status } = await server.request("POST", `/browsers/${id}/observe`, { body: {} });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { outline: string }).outline;
}

/** Starts a session with a half-filled form. */
async function begin(body: object): Promise<Browser> {
  const parent = await create(body);
  for (const act of [
    { type: "navigate", url: `${address}/` },
    { type: "fill", role: "textbox", text: "Oslo" },
  ])
    expect(await server.request("POST", `/browsers/${parent.session_id}/act`, { body: act })).toMatchObject({
      status: 200,
    });
  return parent;
}

async function fork(id: string, body: object): Promise<ForkedBrowsers> {
  const answer = await server.request("POST", `/browsers/${id}/fork`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return ForkedBrowsers.parse(answer.body);
}

describe.skipIf(reason !== undefined)(`exact forks${reason === undefined ? "" : ` (${reason})`}`, () => {
  beforeAll(async () => {
    server = await startTestServer({ placement: "sandbox", allow_private_hosts: ["127.0.0.1"] });
    site = createServer((request, response) => {
      seen.add(request.url ?? "");
      response.setHeader("content-type", "text/html").end(page);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  });
  afterAll(async () => {
    site.closeAllConnections();
    site.close();
    await server.close();
  });

  it("have the state of the page, which is not loaded again", async () => {
    const parent = await begin({ forkable: true });
    const outline = await outlineOf(parent.session_id);
    const loads = [...seen].filter((url) => url === "/").length;
    const { browsers, mode, paused_ms: paused } = await fork(parent.session_id, { count: 3 });
    expect([mode, browsers.length]).toEqual(["exact", 3]);
    expect(paused).toBeGreaterThan(0);
    for (const { session_id: id, forked_from } of browsers) {
      expect(forked_from).toBe(parent.session_id);
      expect(await outlineOf(id)).toBe(outline);
    }
    expect([...seen].filter((url) => url === "/")).toHaveLength(loads);
    expect(await outlineOf(parent.session_id)).toBe(outline);
    for (const { session_id: id } of [parent, ...browsers])
      expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
    // Other programs of the machine have theirs.
    const own = `shoal-copy-${String(process.pid)}-`;
    await expect.poll(() => readdirSync("/dev/shm").filter((name) => name.startsWith(own))).toEqual([]);
  });

  it("reach no host that the rules of their parent refuse", async () => {
    const parent = await begin({ forkable: true, network: { private_hosts: ["127.0.0.1"] } });
    const answer = await server.request("PATCH", `/browsers/${parent.session_id}`, {
      body: { network: { deny: ["127.0.0.1"] } },
    });
    expect(answer.status).toBe(200);
    const outline = await outlineOf(parent.session_id);
    // The page requests an address ten times a second, from the first moment of a fork.
    const before = seen.size;
    const { browsers } = await fork(parent.session_id, { mode: "exact", count: 2 });
    expect(browsers).toHaveLength(2);
    for (const { session_id: id } of [...browsers, ...browsers]) expect(await outlineOf(id)).toBe(outline);
    expect(seen.size).toBe(before);
  });

  it("are not made while a recording runs", async () => {
    const parent = await begin({ forkable: true });
    const path = `/browsers/${parent.session_id}`;
    expect((await server.request("POST", `${path}/replays`, { body: {} })).status).toBeLessThan(300);
    expect(await server.request("POST", `${path}/fork`, { body: { mode: "exact" } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("a recording") as unknown },
    });
    const { mode, not_exact_because: why } = await fork(parent.session_id, {});
    expect([mode, why]).toEqual(["restored", expect.stringContaining("a recording")]);
  });

  it("can be forked again", async () => {
    const parent = await begin({ forkable: true });
    const [child] = (await fork(parent.session_id, { mode: "exact" })).browsers;
    const { browsers } = await fork(child?.session_id ?? "", { mode: "exact" });
    expect(await outlineOf(browsers[0]?.session_id ?? "")).toBe(await outlineOf(parent.session_id));
  });

  it("have a parent that stays a separate headless shell", async () => {
    const { session_id: id } = await create({ forkable: true });
    expect(
      await server.request("PATCH", `/browsers/${id}`, {
        body: { chrome_policy: { HomepageLocation: "about:blank" } },
      }),
    ).toMatchObject({ status: 400, body: { message: expect.stringContaining("chrome_policy") as unknown } });
  });

  it.each([
    { stealth: true },
    { headless: false },
    { isolation: "context" },
    { recording: { network: true } },
    { network: { headers: [{ hosts: ["example.com"], name: "x-key", value: "1" }] } },
  ])("need a separate headless shell: %j", async (options) => {
    const [field] = Object.keys(options);
    expect(await server.request("POST", "/browsers", { body: { forkable: true, ...options } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(field ?? "") as unknown },
    });
  });
});
