import type { PlacementMemory } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { Browser, type CreateBrowser } from "@shoal/schemas";
import { globSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";
import { memoryText, refuseMemory } from "./session-memory.ts";

const gib = 2 ** 30;
const roomy: PlacementMemory = { usualBytes: 4 * gib, machineBytes: 64 * gib };

function refusal(
  body: Pick<CreateBrowser, "headless" | "memory">,
  memory: Partial<PlacementMemory> = {},
  maxBytes = Infinity,
): string | undefined {
  try {
    refuseMemory(body, { ...roomy, ...memory }, maxBytes);
    return undefined;
  } catch (error) {
    if (ServiceError.isInstance(error)) return `${String(error.status)} ${error.message}`;
    throw error;
  }
}

it("is shown in whole GiB where possible, otherwise in MiB", () => {
  expect([gib, 4 * gib, 1.5 * gib, 400 * 2 ** 20, 15.6 * gib].map(memoryText)).toEqual([
    "1GiB",
    "4GiB",
    "1536MiB",
    "400MiB",
    "15974MiB",
  ]);
});

it("is refused when the server cannot provide it, with the reason and the alternative", () => {
  expect(refusal({})).toBeUndefined();
  expect(refusal({ headless: false, memory: "16GiB" })).toBeUndefined();
  for (const headless of [true, undefined])
    for (const memory of ["1GiB", "2GiB", "4GiB"] as const) {
      expect(refusal({ ...(headless && { headless }), memory })).toBeUndefined();
      expect(refusal({ ...(headless && { headless }), memory }, { unlimitedBecause: "No groups." })).toMatch(
        /^400 body\.memory: .*No groups\./,
      );
      expect(refusal({ ...(headless && { headless }), memory }, {}, gib / 2)).toMatch(/session_memory_max_mb/);
    }
  for (const memory of ["8GiB", "16GiB"] as const)
    expect(refusal({ memory })).toMatch(/^400 body\.memory: \d+GiB needs headless: false; .*1GiB, 2GiB, 4GiB/);
  expect(refusal({ memory: "6GiB" })).toMatch(
    /^400 body\.memory: a session without a window can have 1GiB, 2GiB, 4GiB/,
  );
  expect(refusal({ headless: false, memory: "8GiB" }, { unlimitedBecause: "Sessions have no sandbox." })).toMatch(
    /^400 body\.memory: .*Sessions have no sandbox\./,
  );
  expect(refusal({ headless: false, memory: "16GiB" }, { machineBytes: 15.6 * gib })).toMatch(
    /^400 body\.memory: 16GiB is more than this server has, which is 15974MiB/,
  );
  expect(refusal({ headless: false, memory: "16GiB" }, {}, 8 * gib)).toMatch(
    /^400 body\.memory: 16GiB is more than a session.*8GiB \(session_memory_max_mb\)/,
  );
  expect(refusal({ headless: false, memory: "8GiB" }, {}, 8 * gib)).toBeUndefined();
  for (const memory of ["1GiB", "2GiB", "4GiB", "6GiB"] as const)
    expect(refusal({ headless: false, memory })).toMatch(
      /^400 body\.memory: a session with a window can have 8GiB, 16GiB\. Omit the field/,
    );
});

describe("of a session on this machine", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ placement: "auto", session_memory_mb: 1536, warm: 1 });
  });
  afterAll(() => server.close());

  /** Limits of sandboxes, in bytes; empty if this process cannot create control groups. */
  const limits = () =>
    globSync(`/sys/fs/cgroup/**/shoal-box-${String(process.pid)}-*`)
      .flatMap((group) => ["memory.limit_in_bytes", "memory.max"].map((name) => `${group}/${name}`))
      .flatMap((file) => {
        try {
          return [readFileSync(file, "utf8").trim()];
        } catch {
          return []; // Of another version of control groups, or of a box that ended meanwhile.
        }
      });

  it("is the limit of the sandbox, from the request or the settings, and absent without control groups", async () => {
    const usual = Browser.parse((await server.request("POST", "/browsers", { body: { name: "usual" } })).body);
    const isLimited = usual.memory === "1536MiB";
    expect(limits().includes(String(1536 * 2 ** 20))).toBe(isLimited);

    const small = await server.request("POST", "/browsers", { body: { name: "small", memory: "2GiB" } });
    expect(small.status).toBe(isLimited ? 200 : 400);
    if (isLimited) {
      expect(small.body).toMatchObject({ headless: true, memory: "2GiB" });
      expect(limits()).toContain(String(2 * gib));
      expect((await server.request("DELETE", "/browsers/small")).status).toBe(204);
    }

    const asked = await server.request("POST", "/browsers", {
      body: { name: "asked", headless: false, memory: "8GiB", viewport: { width: 800, height: 600 } },
    });
    if (asked.status === 200) {
      expect(isLimited).toBe(true);
      expect(asked.body).toMatchObject({ memory: "8GiB" });
      expect(limits()).toContain(String(8 * gib));
      expect((await server.request("GET", "/browsers/asked")).body).toMatchObject({ memory: "8GiB" });
      expect((await server.request("DELETE", "/browsers/asked")).status).toBe(204);
      expect(
        (await server.request("GET", `/browsers/${Browser.parse(asked.body).session_id}?include_deleted=true`)).body,
      ).toMatchObject({
        memory: "8GiB",
      });
    } else {
      // No window, no control groups, or less than 8 GiB.
      const limit = process.constrainedMemory();
      const machine = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
      expect([
        asked.status,
        isLimited && machine >= 8 * gib && (asked.body as { message: string }).message.startsWith("body.memory"),
      ]).toEqual([400, false]);
    }
    expect(await server.request("POST", "/browsers", { body: { memory: "8GiB" } })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^body\.memory: 8GiB needs headless: false/) as unknown },
    });
    expect(await server.request("POST", "/browsers", { body: { headless: false, memory: "3GiB" } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("body.memory") as unknown },
    });
    await server.request("DELETE", "/browsers/usual");
    await expect.poll(() => limits().filter((limit) => limit === String(8 * gib))).toEqual([]);
  });
});
