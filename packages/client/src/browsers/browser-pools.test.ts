import { ServiceError, withStatus } from "@shoal/router";
import type { AcquireBrowser, Browser } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import { Shoal, TimeoutError } from "../index.ts";
import { startPartialService } from "../node/testing/partial-service.ts";

const browser: Browser = {
  session_id: "b1",
  created_at: "2026-01-31T12:00:00.000Z",
  cdp_ws_url: "ws://x",
  webdriver_ws_url: "ws://x",
  headless: true,
  stealth: false,
  timeout_seconds: 600,
};

/** Starts a pool that has no free browser for the first `afterPolls` requests. */
async function startPool(afterPolls = 0) {
  const asked: unknown[] = [];
  const released: unknown[] = [];
  const service = await startPartialService({
    acquireBrowser: ({ params, body }) => {
      asked.push({ pool: params.id_or_name, ...body });
      return asked.length > afterPolls ? withStatus(200, { ...browser }) : withStatus(204, undefined);
    },
    releaseBrowser: ({ params, body }) => {
      if (released.length > 0) throw new ServiceError(404, "not_found", "The session is not leased.");
      released.push({ pool: params.id_or_name, ...body });
    },
  });
  return {
    service,
    asked,
    released,
    browserPools: new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl }).browserPools,
  };
}

describe("a lease", () => {
  it("returns to its pool at the end of the scope, and is plain data", async () => {
    const { service, browserPools, released } = await startPool();
    await using _ = service;
    {
      await using lease = await browserPools.acquire("search");
      expect(JSON.parse(JSON.stringify(lease))).toEqual(browser);
      expect(Reflect.ownKeys({ ...lease })).not.toContain(Symbol.asyncDispose);
      expect(released).toEqual([]);
    }
    expect(released).toEqual([{ pool: "search", session_id: "b1", reuse: true }]);
  });

  it("ends its browser with reuse: false", async () => {
    const { service, browserPools, released } = await startPool();
    await using _ = service;
    {
      await using lease = await browserPools.acquire(
        "search",
        { name: "job-7", tags: { team: "a" } },
        { reuse: false },
      );
      expect(lease.session_id).toBe("b1");
    }
    expect(released).toEqual([{ pool: "search", session_id: "b1", reuse: false }]);
  });

  it("sends requests through its browser", async () => {
    await using service = await startPartialService({
      acquireBrowser: () => ({ ...browser }),
      curl: ({ params, body }) => ({
        status: 200,
        headers: { "content-type": ["text/plain"] },
        body: btoa(`${params.id} ${body.url}`),
        body_encoding: "base64",
        duration_ms: 1,
      }),
    });
    const lease = await new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl }).browserPools.acquire(
      "search",
    );
    expect(await (await lease.fetch("https://example.com/")).text()).toBe("b1 https://example.com/");
  });

  it("can be released before the scope ends", async () => {
    const { service, browserPools, released } = await startPool();
    await using _ = service;
    {
      await using lease = await browserPools.acquire("search");
      await browserPools.release("search", { session_id: lease.session_id });
    }
    expect(released).toHaveLength(1);
  });
});

describe("waiting for a browser", () => {
  it("repeats the request until a browser is free, each time as a new call", async () => {
    const { service, asked, browserPools } = await startPool(2);
    await using _ = service;
    await using lease = await browserPools.acquire("search", { start_url: "https://example.com" });
    expect(lease.session_id).toBe("b1");
    expect(asked).toEqual(
      Array.from({ length: 3 }, () => ({
        pool: "search",
        start_url: "https://example.com",
        acquire_timeout_seconds: 30,
      })),
    );
    expect(new Set(service.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(3);
  });

  it("derives the idempotency keys of further requests from the given key", async () => {
    const { service, browserPools } = await startPool(1);
    await using _ = service;
    await browserPools.acquire("search", {}, { idempotencyKey: "job-7" });
    expect(service.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["job-7", "job-7-2"]);
  });

  it("returns undefined after the timeout", async () => {
    const { service, asked, browserPools } = await startPool(Infinity);
    await using _ = service;
    {
      await using lease = await browserPools.acquire("search", { acquire_timeout_seconds: 0 });
      expect(lease).toBeUndefined();
    }
    expect(asked).toEqual([{ pool: "search", acquire_timeout_seconds: 0 }]);
    expect(await browserPools.acquire("search", { acquire_timeout_seconds: 2 })).toBeUndefined();
    expect(asked[1]).toEqual({ pool: "search", acquire_timeout_seconds: 2 });
    for (const later of asked.slice(2)) expect([0, 1, 2]).toContain((later as AcquireBrowser).acquire_timeout_seconds);
  });

  it("ends with the signal's reason, and at totalTimeoutMs", async () => {
    const { service, asked, browserPools } = await startPool(Infinity);
    await using _ = service;
    const stop = new AbortController();
    const waiting = browserPools.acquire("search", {}, { signal: stop.signal });
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(browserPools.acquire("search", {}, { totalTimeoutMs: 200 })).rejects.toSatisfy((error) =>
      TimeoutError.isInstance(error),
    );
  });

  it("rejects for an unknown pool", async () => {
    await using service = await startPartialService({
      acquireBrowser: () => {
        throw new ServiceError(404, "not_found", "Pool nowhere was not found.");
      },
    });
    await expect(
      new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl }).browserPools.acquire("nowhere"),
    ).rejects.toMatchObject({
      status: 404,
    });
    expect(service.requests).toHaveLength(1);
  });
});
