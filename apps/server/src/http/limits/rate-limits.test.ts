import type { Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import fc from "fast-check";
import { sql } from "kysely";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { refusedUpgrade } from "../../testing/upgrade.ts";
import { addressSubject, createRateLimits, type RateLimitRules, type RateLimits, type Uses } from "./rate-limits.ts";
import { shareUses } from "./shared-uses.ts";
import { openTestDatabase } from "../../testing/test-database.ts";

const none: RateLimitRules = { perKey: 0, perOrganization: 0, refusedPerAddress: 0 };
const silent = () => undefined;

function isAdmitted(limits: RateLimits, key: string): boolean {
  try {
    limits.admit(key, silent);
    return true;
  } catch (error) {
    if (ServiceError.isInstance(error) && error.status === 429) return false;
    throw error;
  }
}

describe("a limit", () => {
  it("admits a minute's requests at once, then one at a time", () => {
    let nowMs = 0;
    const limits = createRateLimits({ ...none, perKey: 60 }, () => nowMs);
    for (let index = 0; index < 60; index += 1) expect(isAdmitted(limits, "a")).toBe(true);
    expect(isAdmitted(limits, "a")).toBe(false);
    expect(isAdmitted(limits, "b")).toBe(true);
    nowMs += 999;
    expect(isAdmitted(limits, "a")).toBe(false);
    nowMs += 2;
    expect([isAdmitted(limits, "a"), isAdmitted(limits, "a")]).toEqual([true, false]);
  });

  it("never admits more than a minute's requests plus the refill, for any sequence of requests", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.constantFrom("a", "b", "c")), { maxLength: 300 }),
        (perKey, perOrganization, asked) => {
          let nowMs = 0;
          const limits = createRateLimits({ ...none, perKey, perOrganization }, () => nowMs);
          const admitted = new Map<string, number>();
          for (const [pauseMs, key] of asked) {
            nowMs += pauseMs;
            if (isAdmitted(limits, key)) admitted.set(key, (admitted.get(key) ?? 0) + 1);
          }
          const most = (limit: number) => limit + (nowMs * limit) / 60_000 + 1e-6;
          for (const count of admitted.values()) expect(count).toBeLessThanOrEqual(most(perKey));
          expect([...admitted.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(
            most(perOrganization),
          );
        },
      ),
    );
  });

  it("does not count refused requests, and follows a change of the limit", () => {
    const nowMs = 0;
    const rules = { ...none, perKey: 2, perOrganization: 3 };
    const limits = createRateLimits(rules, () => nowMs);
    expect(["a", "a", "a", "a", "b", "b"].map((key) => isAdmitted(limits, key))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
    rules.perOrganization = 0;
    expect([isAdmitted(limits, "b"), isAdmitted(limits, "b")]).toEqual([true, false]);
    rules.perKey = 0;
    expect(isAdmitted(limits, "b")).toBe(true);
  });

  it("counts an IPv6 host by its network", () => {
    expect(addressSubject("192.0.2.1")).toBe("192.0.2.1");
    expect(addressSubject("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2");
    expect(addressSubject("2001:db8::1")).toBe(addressSubject("2001:0db8:0:0::2"));
    expect(addressSubject("::1")).toBe("0:0:0:0");
  });
});

describe("on a server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      rate_limit_per_key: 20,
      rate_limit_per_organization: 50,
      rate_limit_per_address: 10,
    });
  });
  afterAll(() => server.close());

  it("shows the rest of the limit in each answer, and refuses one request too many with the time to retry", async () => {
    const { key } = await server.addProject("limited");
    const first = await server.request("GET", "/profiles", { key });
    expect([first.headers.get("x-ratelimit-limit"), first.headers.get("x-ratelimit-remaining")]).toEqual(["20", "19"]);
    expect(Number(first.headers.get("x-ratelimit-reset"))).toBeGreaterThanOrEqual(0);
    // Also for operations on a session, and for errors.
    expect((await server.request("GET", "/browsers/none/replays", { key })).headers.get("x-ratelimit-limit")).toBe(
      "20",
    );
    let refused = first;
    for (let index = 0; index < 60 && refused.status !== 429; index += 1)
      refused = await server.request("GET", "/profiles", { key });
    expect(refused).toMatchObject({
      status: 429,
      body: { code: "rate_limited", message: expect.stringContaining("20 requests a minute") as unknown },
    });
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    // Other keys are unaffected, and requests without a key are not counted.
    expect((await server.request("GET", "/profiles")).status).toBe(200);
    expect((await server.request("GET", "/health", { key: null })).headers.get("x-ratelimit-limit")).toBeNull();
    // A limit of 20 per minute admits one request every three seconds. Refused ones do not count.
    await expect.poll(async () => (await server.request("GET", "/profiles", { key })).status).toBe(200);
  });

  it("counts a request for the address of a session's browser once", async () => {
    const { key } = await server.addProject("counted");
    const created = await server.request("POST", "/browsers", { key, body: {} });
    const { session_id: id } = created.body as { session_id: string };
    const left = async (path: string) =>
      Number((await server.request("GET", path, { key })).headers.get("x-ratelimit-remaining"));
    // The limit recovers with time, so that more may be left on a slow machine.
    const before = await left("/profiles");
    expect(await left(`/browsers/${id}/json/version`)).toBeGreaterThanOrEqual(before - 1);
    expect(await left("/profiles")).toBeGreaterThanOrEqual(before - 2);
    expect((await server.request("DELETE", `/browsers/${id}`, { key })).status).toBe(204);
  });

  it("counts connections to sessions with a key", async () => {
    const { key } = await server.addProject("connecting");
    const authorization = `Bearer ${key}`;
    let refused = await refusedUpgrade(`${server.baseUrl}/browsers/none/cdp`, { authorization });
    expect(refused.status).toBe(404);
    for (let index = 0; index < 1_000 && refused.status !== 429; index += 1)
      refused = await refusedUpgrade(`${server.baseUrl}/browsers/none/cdp`, { authorization });
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  });

  it("refuses further unknown keys from an address, and accepts known ones", async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 1_000 && !statuses.includes(429); index += 1)
      statuses.push(
        (await server.request("GET", "/profiles", { key: `sk_shoal_${"x".repeat(42)}${String(index % 10)}` })).status,
      );
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses).toContain(429);
    for (const key of [null, "nonsense"])
      expect([401, 429]).toContain((await server.request("GET", "/profiles", { key })).status);
    expect((await server.request("GET", "/profiles")).status).toBe(200);
  });
});

describe("over several servers", () => {
  let folder: string;
  let database: Database;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "shoal-rates-"));
    ({ database } = await openTestDatabase(folder));
  });
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Every change is recent, however long the test takes. */
  const share = (serverId: string, limits: Parameters<typeof shareUses>[1]) =>
    shareUses({ database, log: pino({ level: "silent" }), serverId, recentSeconds: 86_400 }, limits);

  it("charges nothing after a pause, in which the limits have recovered", async () => {
    // Only the test exchanges.
    vi.useFakeTimers({ toFake: ["setInterval"] });
    let nowMs = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.useRealTimers();
    });
    let charged = 0;
    const told = [1, 2, 3];
    const teller = { takeUses: () => new Map([["key:paused", told.shift() ?? 0]]), charge: silent };
    const listener = {
      takeUses: () => new Map<string, number>(),
      charge(uses: Uses) {
        charged += uses.get("key:paused") ?? 0;
      },
    };
    const telling = share("nine", teller);
    const listening = share("ten", listener);
    for (const [pauseMs, expected] of [
      [0, 1],
      [86_400_000, 1],
      [86_399_999, 4],
    ] as const) {
      nowMs += pauseMs;
      await telling.exchange();
      await listening.exchange();
      expect(charged).toBe(expected);
    }
    for (const shared of [telling, listening]) await shared.stop();
  });

  it("counts requests that the other servers admitted", async () => {
    // The clock is frozen, so that nothing refills.
    const rules = { ...none, perKey: 30, perOrganization: 50 };
    const servers = ["one", "two"].map((id) => {
      const limits = createRateLimits(rules, () => 0);
      return { limits, shared: share(id, limits) };
    });
    const [one, two] = servers;
    if (one === undefined || two === undefined) throw new Error("There are two.");
    const exchange = async () => {
      for (const { shared } of [one, two, one]) await shared.exchange();
    };
    for (let index = 0; index < 10; index += 1) expect(isAdmitted(one.limits, "a")).toBe(true);
    for (let index = 0; index < 15; index += 1) expect(isAdmitted(two.limits, "a")).toBe(true);
    await exchange();
    const left = (limits: RateLimits, key: string) => {
      let count = 0;
      while (isAdmitted(limits, key)) count += 1;
      return count;
    };
    expect(left(one.limits, "a")).toBe(5);
    await exchange();
    expect(left(two.limits, "a")).toBe(0);
    // Both servers have used 30 of the organisation's 50.
    expect(left(two.limits, "b")).toBe(20);
    await exchange();
    expect(left(one.limits, "c")).toBe(0);
    for (const { shared } of servers) await shared.stop();
  });

  it("counts requests without a valid key that the other servers refused", async () => {
    const servers = ["three", "four"].map((id) => {
      const limits = createRateLimits({ ...none, refusedPerAddress: 10 }, () => 0);
      return { limits, shared: share(id, limits) };
    });
    const [three, four] = servers;
    if (three === undefined || four === undefined) throw new Error("There are two.");
    for (let index = 0; index < 6; index += 1) three.limits.countRefused("2001:db8::1");
    three.limits.countRefused("192.0.2.1");
    for (let index = 0; index < 4; index += 1) four.limits.countRefused("2001:db8::2");
    for (const { shared } of [three, four, three]) await shared.exchange();
    for (const { limits } of servers) {
      expect(() => {
        limits.checkAddress("2001:db8::3");
      }).toThrow("Too many requests without a valid API key");
      limits.checkAddress("192.0.2.1");
      limits.checkAddress("2001:db8:0:1::1");
    }
    for (const { shared } of servers) await shared.stop();
  });

  it("adds up the limits of keys, and writes few rows, while very many addresses are refused", async () => {
    const servers = ["five", "six"].map((id) => {
      const limits = createRateLimits({ ...none, perKey: 30, refusedPerAddress: 10 }, () => 0);
      return { limits, shared: share(id, limits) };
    });
    const [five, six] = servers;
    if (five === undefined || six === undefined) throw new Error("There are two.");
    await six.shared.exchange();
    for (let index = 0; index < 21_000; index += 1)
      five.limits.countRefused(`2001:db8:${(index >> 8).toString(16)}:${(index & 255).toString(16)}::1`);
    for (let index = 0; index < 10; index += 1) five.limits.countRefused("2001:db8:0:3::2");
    for (let index = 0; index < 10; index += 1) expect(isAdmitted(five.limits, "flooded")).toBe(true);
    for (const { shared } of [five, six]) await shared.exchange();
    let left = 0;
    while (isAdmitted(six.limits, "flooded")) left += 1;
    expect(left).toBe(20);
    // The address with the most failures is among the rows.
    expect(() => {
      six.limits.checkAddress("2001:db8:0:3::1");
    }).toThrow("Too many requests without a valid API key");
    const rows = await sql`select from rate_limit_uses where server_id = 'five'`.execute(database.query);
    expect(rows.rows.length).toBeLessThanOrEqual(501);
    for (const { shared } of servers) await shared.stop();
  });

  it("charges each use of a key once, however many addresses another server reports", async () => {
    const reported = [
      new Map([["key:told", 5]]),
      new Map(Array.from({ length: 21_000 }, (_, index) => [`address:${String(index)}`, 1])),
      new Map([["key:told", 1]]),
    ];
    let charged = 0;
    const teller = { takeUses: () => reported.shift() ?? new Map<string, number>(), charge: silent };
    const listener = {
      takeUses: () => new Map<string, number>(),
      charge(uses: Uses) {
        charged += uses.get("key:told") ?? 0;
      },
    };
    const telling = share("seven", teller);
    const listening = share("eight", listener);
    for (let count = reported.length; count > 0; count -= 1)
      for (const shared of [telling, listening]) await shared.exchange();
    // A timer also exchanges, so the number of exchanges is open.
    expect(charged).toBe(6);
    for (const shared of [telling, listening]) await shared.stop();
  });
});
