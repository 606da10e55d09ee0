import { ForkedBrowsers } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExactSessions, noCopiesBecause as reason } from "../../../testing/exact-sessions.ts";
import type { TestServer } from "../../../testing/test-server.ts";

const page = `<title>Trip</title><label>To <input></label><p id="made"></p><script>
  made.textContent = "made " + Math.random();
  setInterval(() => fetch("/seen?" + crypto.getRandomValues(new Uint32Array(2)).join("-")), 100);
</script>`;

let sessions: ExactSessions;
let server: TestServer;
const begin = (body: object) => sessions.begin(body, "Oslo");
const outlineOf = (id: string) => sessions.outlineOf(id);

async function fork(id: string, body: object): Promise<ForkedBrowsers> {
  const answer = await server.request("POST", `/browsers/${id}/fork`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return ForkedBrowsers.parse(answer.body);
}

describe.skipIf(reason !== undefined)(`exact forks${reason === undefined ? "" : ` (${reason})`}`, () => {
  beforeAll(async () => {
    sessions = await ExactSessions.open(page);
    ({ server } = sessions);
  });
  afterAll(() => sessions.close());

  it("have the state of the page, which is not loaded again", async () => {
    const parent = await begin({ forkable: true });
    const outline = await outlineOf(parent.session_id);
    const { loads } = sessions;
    const { browsers, mode, paused_ms: paused } = await fork(parent.session_id, { count: 3 });
    expect([mode, browsers.length]).toEqual(["exact", 3]);
    expect(paused).toBeGreaterThan(0);
    for (const { session_id: id, forked_from } of browsers) {
      expect(forked_from).toBe(parent.session_id);
      expect(await outlineOf(id)).toBe(outline);
    }
    expect(sessions.loads).toBe(loads);
    expect(await outlineOf(parent.session_id)).toBe(outline);
    for (const { session_id: id } of [parent, ...browsers])
      expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
    await expect.poll(sessions.images).toEqual([]);
  });

  it("reach no host that the rules of their parent refuse", async () => {
    const parent = await begin({ forkable: true, network: { private_hosts: ["127.0.0.1"] } });
    const answer = await server.request("PATCH", `/browsers/${parent.session_id}`, {
      body: { network: { deny: ["127.0.0.1"] } },
    });
    expect(answer.status).toBe(200);
    const outline = await outlineOf(parent.session_id);
    // The page requests an address ten times a second, from the first moment of a fork.
    const before = sessions.requests.length;
    const { browsers } = await fork(parent.session_id, { mode: "exact", count: 2 });
    expect(browsers).toHaveLength(2);
    for (const { session_id: id } of [...browsers, ...browsers]) expect(await outlineOf(id)).toBe(outline);
    expect(sessions.requests).toHaveLength(before);
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
    const { session_id: id } = await sessions.create({ forkable: true });
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
