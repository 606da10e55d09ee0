import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import type { PageObservation } from "@shoal/schemas";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describeChromium("observe", (chromium) => {
  let instance: RunningInstance;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600 });
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function call(
    body?: object,
  ): Promise<{ status: number; body: PageObservation & { code: string; message: string } }> {
    const { status, text } = await instance.call("POST", "/observe", body && JSON.stringify(body));
    return { status, body: JSON.parse(text) as PageObservation & { code: string; message: string } };
  }

  it("numbers tabs in the order in which they were opened, and observes the front one", async () => {
    const first = await call();
    expect(first).toMatchObject({ status: 200, body: { tab: "t1", tabs: [{ id: "t1", active: true }] } });
    const unknown = await call({ tab: "t7" });
    expect(unknown).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(unknown.body.message).toContain("Open tabs: t1 (about:blank)");
  });
});
