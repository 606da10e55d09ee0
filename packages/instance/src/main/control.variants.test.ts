import { eventuallyPasses } from "@shoal/testkit";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { instanceProgramPath } from "../index.ts";
import { describeChromium } from "../testing/chromium.ts";
import { runInstance } from "../testing/run-instance.ts";

describeChromium("the control channel", (chromium) => {
  it("serves one session, and rejects invalid requests", async () => {
    await using instance = await runInstance({ chromium });
    const assign = (body: unknown) =>
      instance.call("POST", "/_instance/assign", typeof body === "string" ? body : JSON.stringify(body));
    const malformed = await assign("{");
    expect([malformed.status, JSON.parse(malformed.text)]).toMatchObject([400, { code: "bad_request" }]);
    expect((await assign("x".repeat(140_000))).status).toBe(413);
    const rehearsal = await assign("");
    expect([rehearsal.status, rehearsal.text]).toEqual([200, ""]);
    const fits = { session_id: "s", timeout_seconds: 60 };
    expect((await assign(fits)).status).toBe(200);
    expect((await assign(fits)).status).toBe(200);
    expect((await assign({ ...fits, session_id: "other" })).status).toBe(409);
    for (const [path, body, field] of [
      ["/_instance/viewport", { viewport: { width: 1, height: 100_000 }, force: false }, "viewport"],
      ["/_instance/policies", { revision: "../x" }, "revision"],
      ["/_instance/telemetry", { categories: ["nonsense"] }, "categories"],
    ] as const) {
      const { status, text } = await instance.call("POST", path, JSON.stringify(body), {
        "content-type": "application/json",
      });
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        { code: "bad_request", message: expect.stringContaining(field) as unknown },
      ]);
    }
    expect((await instance.call("GET", "/_instance/other")).status).toBe(404);
    expect((await instance.call("GET", "/nothing")).status).toBe(404);
  });

  it("sends every reader the present state first and the end last", async () => {
    await using instance = await runInstance({ chromium });
    expect((await instance.event(() => true)).type).toBe("state");
    await instance.ready();
    const second = await instance.follow("/_instance/events");
    await eventuallyPasses(async () => {
      expect((await instance.call("POST", "/_instance/stop")).status).toBe(204);
    });
    const lines = (await second.text).trim().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "state", browser: "ready", browser_restarts: 0 });
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ type: "ending", reason: "stopped" });
    expect(await instance.exited).toBe(0);
  });

  it("counts an operation as use, but not the control channel with its checkpoints", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({});
    const idleTimes = () =>
      instance.events.flatMap((event) =>
        event.type === "activity" && event.idle_since_ms !== null ? [event.idle_since_ms] : [],
      );
    await eventuallyPasses(() => {
      expect(idleTimes()).toHaveLength(1);
    });
    for (let i = 0; i < 3; i++) await instance.call("GET", "/_instance/other");
    expect((await instance.call("GET", "/_instance/profile?source=checkpoint")).status).toBe(200);
    const before = Date.now();
    await instance.call("GET", "/fs/nothing");
    await eventuallyPasses(() => {
      expect(idleTimes().length).toBeGreaterThan(1);
    });
    expect(idleTimes()[1]).toBeGreaterThanOrEqual(before);
  });
});

describeChromium("a browser that does not start", ({ kind }) => {
  it("is started twice, and its last output is reported", async () => {
    await using instance = await runInstance({ chromium: { kind, executable: "/nonexistent/chromium" } });
    const ending = await instance.event(({ type }) => type === "ending");
    expect(ending).toMatchObject({
      reason: "browser_crashed",
      detail: expect.stringContaining("/nonexistent/chromium") as unknown,
    });
    expect(await instance.exited).toBe(0);
  });
});

it("fills a compile cache without an instance", async () => {
  const directory = await mkdtemp(join(tmpdir(), "shoal-cache-"));
  try {
    const { status, stderr } = spawnSync(process.execPath, [instanceProgramPath, "--fill-cache", directory], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect((await readdir(directory, { recursive: true })).length).toBeGreaterThan(3);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it("reports the missing configuration when started by hand", () => {
  const { status, stderr } = spawnSync(process.execPath, [instanceProgramPath], { encoding: "utf8", env: {} });
  expect(status).toBe(1);
  expect(stderr).toContain("SHOAL_INSTANCE");
});
