import { Browser, Handoff } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServerProcess, startServerProcesses } from "../../testing/server-processes.ts";

let servers: Awaited<ReturnType<typeof startServerProcesses>>;
let two: ServerProcess;
beforeAll(async () => {
  servers = await startServerProcesses();
  two = await servers.start("two");
});
afterAll(() => servers.close());

async function send(server: ServerProcess, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${servers.key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return text === "" ? undefined : JSON.parse(text);
}

it(
  "ends a handoff with the session of a killed server, and its links at the other server",
  { timeout: 300_000 },
  async () => {
    const id = Browser.parse(await send(two, "POST", "/browsers", { timeout_seconds: 600 })).session_id;
    const path = `/browsers/${id}/handoff`;
    const { url = "" } = Handoff.parse(await send(servers.one, "POST", path, { message: "Sign in" }));
    const link = (await send(servers.one, "POST", `/browsers/${id}/live_view_links`, {})) as { readonly url: string };
    // Any server opens them: the address of the living one.
    const there = (address: string) => servers.one.baseUrl + new URL(address).pathname;
    expect((await fetch(`${there(url)}/handoff/take`, { method: "POST" })).status).toBe(200);
    expect(Handoff.parse(await send(servers.one, "GET", path))).toMatchObject({ status: "taken", taken_by: "person" });
    const waiting = send(servers.one, "GET", `${path}?wait_seconds=50`);
    two.child.kill("SIGKILL");
    // The other server answers from the database, also before the killed one is declared dead.
    expect(Handoff.parse(await send(servers.one, "GET", path)).status).toBe("taken");
    const ended = Handoff.parse(await waiting);
    expect(ended.status).toBe("canceled");
    expect(ended.url).toBeUndefined();
    expect(ended).toMatchObject({ released_by: null, session_id: id, ended_at: expect.any(String) as string });
    for (const [address, status, text] of [
      [url, 401, "This request was canceled."],
      [link.url, 404, "The session has ended"],
    ] as const) {
      const page = await fetch(there(address));
      expect([page.status, await page.text()]).toEqual([status, expect.stringContaining(text)]);
    }
    expect((await fetch(`${there(url)}/handoff/release`, { method: "POST" })).status).toBe(401);
    const active = await servers.database.query
      .selectFrom("handoffs")
      .select("id")
      .where("status", "in", ["requested", "taken"])
      .execute();
    expect(active).toEqual([]);
  },
);
