import { describe, expect, it } from "vitest";
import { ApiError, Shoal } from "../index.ts";
import { startPartialService } from "../node/testing/partial-service.ts";

describe("proxies.create", () => {
  const server = { host: "proxy.example", port: 3128 };
  it("reports the invalid field of the configuration for every type", async () => {
    await using service = await startPartialService({
      createProxy: ({ body: { type, bypass_hosts } }) => ({ id: "p1", type, ...(bypass_hosts && { bypass_hosts }) }),
    });
    const { proxies } = new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl });
    const refusals: [proxy: object, message: RegExp][] = [
      [{ type: "custom" }, /^body\.config: a custom proxy needs host and port$/],
      [{ type: "custom", config: { host: "h" } }, /^body\.config\.port: required/],
      [{ type: "custom", config: { ...server, port: 70_000 } }, /^body\.config\.port: expected at most 65535$/],
      [
        { type: "mobile", config: { country: "US", zip: "94103" } },
        /^body\.config\.zip: is not taken by a mobile proxy$/,
      ],
      [{ type: "residential", config: { city: "berlin" } }, /^body\.config\.city: needs country$/],
    ];
    for (const [proxy, message] of refusals) {
      const error: unknown = await proxies.create(proxy as { type: "custom" }).catch((reason: unknown) => reason);
      expect(ApiError.isInstance(error) && error.status).toBe(400);
      expect(error).toHaveProperty("message", expect.stringMatching(message));
    }
    expect(await proxies.create({ type: "custom", config: server, bypass_hosts: ["*.example.com"] })).toEqual({
      id: "p1",
      type: "custom",
      bypass_hosts: ["*.example.com"],
    });
  });
});
