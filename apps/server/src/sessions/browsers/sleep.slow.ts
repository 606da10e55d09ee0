import { examineHost } from "@shoal/placement";
import { Browser } from "@shoal/schemas";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const host = await examineHost();
const finding = host.findings.find(({ name }) => name === "sleep");
const canSleep = finding?.detail.startsWith("Idle sessions can sleep") === true;
const isRequired =
  process.env.SHOAL_REQUIRE_ALL === "1" &&
  process.getuid?.() === 0 &&
  existsSync("/proc/mounts") &&
  / cgroup rw,\S*\bmemory\b|\/sys\/fs\/cgroup cgroup2 rw/.test(readFileSync("/proc/mounts", "utf8"));
const isSkipped = !canSleep && !isRequired;

let server: TestServer;
const sleepAfter = 1;

async function create(body: object): Promise<Browser> {
  const answer = await server.request("POST", "/browsers", { body: { timeout_seconds: 600, ...body } });
  expect(answer.body).toMatchObject({ session_id: expect.any(String) as string });
  return Browser.parse(answer.body);
}

async function show({ session_id: id }: Browser): Promise<Browser> {
  const { body } = await server.request("GET", `/browsers/${id}?include_deleted=true`);
  return Browser.parse(body);
}

const isAsleep = async (session: Browser) => (await show(session)).asleep_since !== undefined;
const sleeps = (session: Browser) => expect.poll(() => isAsleep(session)).toBe(true);

/** Groups of frozen boxes. */
function frozenGroups(): string[] {
  const v2 = globSync("/sys/fs/cgroup/**/shoal-box-*/cgroup.events").filter((path) =>
    readText(path).includes("frozen 1"),
  );
  const v1 = globSync("/sys/fs/cgroup/**/shoal-box-*/freezer.state").filter((path) => readText(path) === "FROZEN\n");
  return [...v1, ...v2].filter((path) => path.includes(`shoal-box-${String(process.pid)}-`));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function evaluate(client: Awaited<ReturnType<typeof connectCdp>>, sessionId: unknown, expression: string) {
  const { result } = (await client.send("Runtime.evaluate", { expression, awaitPromise: true }, sessionId)) as {
    result: { value: unknown };
  };
  return result.value;
}

async function attach(session: Browser) {
  const client = await connectCdp(session.cdp_ws_url);
  const { targetId } = await client.send("Target.createTarget", { url: "data:text/html,<title>kept</title>" });
  const { sessionId } = await client.send("Target.attachToTarget", { targetId, flatten: true });
  return { client, sessionId };
}

describe.skipIf(isSkipped)(`a session that sleeps${isSkipped ? ` (skipped: ${finding?.detail ?? ""})` : ""}`, () => {
  beforeAll(async () => {
    server = await startTestServer({ placement: "sandbox", websocket_timeout_seconds: 10 });
  });
  afterAll(async () => {
    await server.close();
  });

  it("is frozen with a silent CDP client, and continues at its next message, eight times", async () => {
    const session = await create({ sleep_after_seconds: sleepAfter });
    expect(session.sleep_after_seconds).toBe(sleepAfter);
    const { client, sessionId } = await attach(session);
    await evaluate(client, sessionId, "globalThis.ticks = 0; setInterval(() => globalThis.ticks++, 1)");
    for (let cycle = 1; cycle <= 8; cycle++) {
      await sleeps(session);
      if (cycle === 1) {
        await expect.poll(frozenGroups).toHaveLength(1);
        // The client answers pings of the service meanwhile, which wakes nothing.
        const asleepMs = 12_000;
        await new Promise((resolve) => setTimeout(resolve, asleepMs));
        expect(await isAsleep(session)).toBe(true);
      }
      expect(await evaluate(client, sessionId, `document.title + ${String(cycle)}`)).toBe(`kept${String(cycle)}`);
    }
    expect(await show(session)).toMatchObject({ browser_restarts: 0 });
    client.close();
    await server.request("DELETE", `/browsers/${session.session_id}`);
    await expect.poll(frozenGroups).toEqual([]);
  });

  it("wakes for a request, and is ended by its idle timeout while it sleeps", async () => {
    const session = await create({ sleep_after_seconds: sleepAfter, timeout_seconds: 40 });
    await sleeps(session);
    const { status, body } = await server.request("POST", `/browsers/${session.session_id}/process/exec`, {
      body: { command: "echo", args: ["awake"] },
    });
    expect([status, Buffer.from((body as { stdout_b64: string }).stdout_b64, "base64").toString()]).toEqual([
      200,
      "awake\n",
    ]);
    await sleeps(session);
    await expect.poll(async () => (await show(session)).ended_reason).toBe("timeout");
  });

  it("stays awake while a command of a client waits, a process runs, or a viewer is connected", async () => {
    const session = await create({ sleep_after_seconds: sleepAfter });
    const { client, sessionId } = await attach(session);
    const waiting = evaluate(client, sessionId, "new Promise((resolve) => setTimeout(resolve, 4000, 'waited'))");
    let isOver = false;
    const isWaiting = (): boolean => !isOver;
    const end = () => {
      isOver = true;
    };
    waiting.then(end, end);
    const slept: boolean[] = [];
    while (isWaiting()) {
      const asleep = await isAsleep(session);
      // Afterwards it may sleep at once.
      if (isWaiting()) slept.push(asleep);
    }
    expect(slept).not.toContain(true);
    expect(await waiting).toBe("waited");
    client.close();
    await server.request("POST", `/browsers/${session.session_id}/process/spawn`, {
      body: { command: "sleep", args: ["4"] },
    });
    const viewer = new WebSocket(`${(session.browser_live_view_url ?? "").replace(/^http/, "ws")}/socket`);
    await once(viewer, "open");
    const seen: boolean[] = [];
    for (const end = performance.now() + 3500; performance.now() < end;) {
      seen.push(await isAsleep(session));
      const betweenLooksMs = 200;
      await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
    }
    expect(seen).not.toContain(true);
    viewer.close();
    await sleeps(session);
    await server.request("DELETE", `/browsers/${session.session_id}`);
  });

  it("begins and ceases to sleep with an update", async () => {
    const session = await create({});
    const change = async (seconds: number) =>
      (await server.request("PATCH", `/browsers/${session.session_id}`, { body: { sleep_after_seconds: seconds } }))
        .body;
    expect(await change(sleepAfter)).toMatchObject({ sleep_after_seconds: sleepAfter });
    await sleeps(session);
    expect(await change(0)).not.toHaveProperty("sleep_after_seconds");
    expect(await isAsleep(session)).toBe(false);
    await server.request("DELETE", `/browsers/${session.session_id}`);
  });

  it("notices that its client left while it slept", async () => {
    const session = await create({ sleep_after_seconds: sleepAfter });
    const { client } = await attach(session);
    await sleeps(session);
    expect((await show(session)).expires_at).toBeUndefined();
    client.close();
    await expect.poll(async () => (await show(session)).expires_at).toBeDefined();
    await server.request("DELETE", `/browsers/${session.session_id}`);
  });

  it("ends with its server", async () => {
    const session = await create({ sleep_after_seconds: sleepAfter });
    await sleeps(session);
    await expect.poll(frozenGroups).toHaveLength(1);
    await server.close();
    await expect.poll(frozenGroups).toEqual([]);
  });
});

it("is refused where sessions cannot be frozen, with the reason", async () => {
  const plain = await startTestServer({});
  try {
    const { status, body } = await plain.request("POST", "/browsers", { body: { sleep_after_seconds: 5 } });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        field: "body.sleep_after_seconds",
        message: expect.stringContaining("only sessions in a sandbox can be frozen") as string,
      }),
    ]);
  } finally {
    await plain.close();
  }
});
