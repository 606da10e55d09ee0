import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import { describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";

describe("a key that has sent its minute's requests", () => {
  const test = useService(() => ["--rate-limit-per-key", "30"]);

  /** @returns the first refusal. */
  async function useUp(): Promise<Response> {
    for (;;) {
      const response = await fetch(`${test.service.baseUrl}/profiles`, {
        headers: { authorization: `Bearer ${test.service.apiKey}` },
      });
      if (response.status === 429) return response;
      expect(response.status).toBe(200);
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
    await useUp();
    const once = new Shoal({ baseUrl: test.service.baseUrl, apiKey: test.service.apiKey, maxRetries: 0 });
    await expect(once.profiles.list()).rejects.toMatchObject({ status: 429, code: "rate_limited", retryable: true });
  });
});
