import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import { describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";

describe("a key that has sent its minute's requests", () => {
  const test = useService(() => ["--rate-limit-per-key", "30"]);

  /** Sends more than a minute's requests at once, so that requests freed meanwhile are used too. @returns a refusal. */
  async function useUp(): Promise<Response> {
    for (;;) {
      const responses = await Promise.all(
        Array.from({ length: 40 }, () =>
          fetch(`${test.service.baseUrl}/profiles`, { headers: { authorization: `Bearer ${test.service.apiKey}` } }),
        ),
      );
      const refused = responses.find(({ status }) => status === 429);
      if (refused !== undefined) return refused;
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    }
  }

  it("receives Retry-After, which both clients obey", async ({ skip }) => {
    skip(serverCount > 1, "several servers exchange their counts once a second, so Retry-After is exact on one only");
    const refused = await useUp();
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    const waitMs = Number(refused.headers.get("retry-after")) * 1000;
    // A limit of 30 per minute frees one request every two seconds.
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(2000);
    const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
    expect((await kernel.profiles.list()).getPaginatedItems()).toEqual([]);
    await useUp();
    const shoal = new Shoal({ baseUrl: test.service.baseUrl, apiKey: test.service.apiKey });
    expect((await shoal.profiles.list()).items).toEqual([]);
    const once = new Shoal({ baseUrl: test.service.baseUrl, apiKey: test.service.apiKey, maxRetries: 0 });
    await expect(Promise.all(Array.from({ length: 200 }, () => once.profiles.list()))).rejects.toMatchObject({
      ...{ status: 429, code: "rate_limited", retryable: true },
    });
  });
});
