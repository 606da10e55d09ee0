import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import { describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";

describe("a key that has sent its minute's requests", () => {
  const test = useService(() => ["--rate-limit-per-key", "30"]);

  /** @returns the first refusal, with several servers the last one of a refusal by each. */
  async function useUp(): Promise<Response> {
    for (let refusals = 0; ;) {
      const response = await fetch(`${test.service.baseUrl}/profiles`, {
        headers: { authorization: `Bearer ${test.service.apiKey}` },
      });
      if (response.status === 429) {
        refusals += 1;
        if (refusals === serverCount) return response;
      } else {
        refusals = 0;
        expect(response.status).toBe(200);
      }
    }
  }

  it("receives Retry-After, which both clients obey", async () => {
    const refused = await useUp();
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    const waitMs = Number(refused.headers.get("retry-after")) * 1000;
    // A limit of 30 per minute frees one request every two seconds. Each server may exceed it for a second.
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(serverCount > 1 ? 60_000 * serverCount : 2000);
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
