import { Browser, ErrorBody, Profile } from "@shoal/schemas";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
let session: string;
beforeAll(async () => {
  server = await startTestServer({}, { embedded: true, proxied: true });
  session = Browser.parse(
    (await server.request("POST", "/browsers", { body: { name: "steady", timeout_seconds: 3600 } })).body,
  ).session_id;
});
afterAll(() => server.close());

type Reply = Awaited<ReturnType<TestServer["request"]>>;

/** True for the expected answer, or for a 503 with Retry-After. */
function isHonest({ body, headers, status }: Reply): boolean {
  if (status < 300) return true;
  return (
    status === 503 && ErrorBody.parse(body).code === "database_unavailable" && Number(headers.get("retry-after")) > 0
  );
}

/** Checks that the session runs, which needs no working database. */
async function expectSessionRuns(): Promise<void> {
  expect(await server.request("GET", "/browsers/steady")).toMatchObject({ status: 200, body: { session_id: session } });
  expect(
    await server.request("POST", `/browsers/${session}/process/exec`, { body: { command: "true" } }),
  ).toMatchObject({
    status: 200,
    body: { exit_code: 0 },
  });
}

/** Until it is stopped. @returns the answers, and the profiles that were created according to them. */
function work(callers: number) {
  let stopped = false;
  const replies: Reply[] = [];
  const made: string[] = [];
  async function call(caller: number): Promise<void> {
    for (let turn = 0; !stopped; turn += 1) {
      const name = `work-${String(caller)}-${String(turn)}-${String(Date.now())}`;
      const reply = await (turn % 3 === 0
        ? server.request("POST", "/profiles", { body: { name } })
        : server.request("GET", turn % 3 === 1 ? "/profiles" : "/browsers/steady"));
      replies.push(reply);
      if (turn % 3 === 0 && reply.status < 300) made.push(Profile.parse(reply.body).id);
    }
  }
  const done = Promise.all(Array.from({ length: callers }, (_none, caller) => call(caller)));
  done.catch(() => undefined);
  return {
    replies,
    async stop() {
      stopped = true;
      await done;
      return { made, replies };
    },
  };
}

it("answers requests that need no database while the database is slow, and the others later", async () => {
  const { proxy } = server;
  if (proxy === undefined) throw new Error("unreachable");
  proxy.pause();
  try {
    const slow = Promise.all(Array.from({ length: 5 }, () => server.request("GET", "/profiles")));
    let isDone = false;
    slow.then(
      () => {
        isDone = true;
      },
      () => undefined,
    );
    expect((await server.request("GET", "/health", { key: null })).status).toBe(200);
    expect(
      (await server.request("POST", `/browsers/${session}/process/exec`, { body: { command: "true" } })).status,
    ).toBe(200);
    expect(isDone).toBe(false);
    proxy.resume();
    expect((await slow).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  } finally {
    proxy.resume();
  }
});

it.skipIf(process.platform === "win32").each(["SIGKILL", "SIGINT", "SIGQUIT"] as const)(
  "answers 503 with Retry-After while PostgreSQL restarts after %s, keeps its sessions, and loses nothing (needs POSIX signals)",
  async (signal) => {
    const working = work(6);
    await expect.poll(() => working.replies.length).toBeGreaterThan(30);
    process.kill(
      Number.parseInt(readFileSync(join(server.databaseDir, "pgdata", "postmaster.pid"), "utf8"), 10),
      signal,
    );
    await expect.poll(() => working.replies.some(({ status }) => status === 503)).toBe(true);
    const before = working.replies.length;
    await expect
      .poll(
        () => working.replies.length > before + 60 && working.replies.slice(-30).every(({ status }) => status < 300),
      )
      .toBe(true);
    const { made, replies } = await working.stop();
    expect(replies.filter((reply) => !isHonest(reply)).map(({ body, status }) => [status, body])).toEqual([]);
    const kept = new Set(
      (await server.database.query.selectFrom("profiles").select("id").execute()).map(({ id }) => id),
    );
    expect(made.filter((id) => !kept.has(id))).toEqual([]);
    await expectSessionRuns();
  },
);

it("recovers when every connection to its database is cut", async () => {
  const { proxy } = server;
  if (proxy === undefined) throw new Error("unreachable");
  const working = work(4);
  for (let cuts = 0; cuts < 5; cuts += 1) {
    const before = working.replies.length;
    await expect.poll(() => working.replies.length).toBeGreaterThan(before + 10);
    proxy.cut();
  }
  await expect.poll(() => working.replies.slice(-20).every(({ status }) => status < 300)).toBe(true);
  const { replies } = await working.stop();
  expect(replies.filter((reply) => !isHonest(reply)).map(({ body, status }) => [status, body])).toEqual([]);
  await expectSessionRuns();
});
