import { eventually } from "@shoal/testkit";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

export function describeWebhooks(test: ServiceUnderTest): void {
  const url = "https://hooks.invalid/";

  describe("webhooks", () => {
    it("are created with a secret that is shown once, listed, changed and deleted", async () => {
      const { webhooks } = test.shoal;
      const made = await webhooks.create({ url, event_types: ["browser.ended"], description: "for the behaviour" });
      expect(made).toMatchObject({ url, event_types: ["browser.ended"], enabled: true });
      expect(made.secret).toMatch(/^whsec_[\w+/]{43}=$/);
      const { secret: _secret, ...shown } = made;
      expect(await webhooks.get(made.id)).toEqual(shown);
      expect((await webhooks.list({ query: "BEHAVIOUR" })).items.map(({ id }) => id)).toEqual([made.id]);
      const changed = await webhooks.update(made.id, { enabled: false, event_types: [], description: "" });
      expect(changed).toMatchObject({ enabled: false, event_types: [] });
      expect(changed).not.toHaveProperty("description");
      const rotated = await webhooks.rotateSecret(made.id, { grace_seconds: 60 });
      expect(rotated.secret).not.toBe(made.secret);
      expect(rotated.previous_secret_expires_at).toBeDefined();
      await webhooks.delete(made.id);
      expect(await codeOf(webhooks.get(made.id))).toBe("404 not_found");
    });

    it("store deliveries of the selected events", async () => {
      const { browsers, webhooks } = test.shoal;
      const { id } = await webhooks.create({ url, event_types: ["browser.ended"] });
      const browser = await browsers.create();
      await browsers.delete(browser.session_id);
      // Sessions of other tests may end at the same time.
      const [delivery, ...others] = await eventually("a delivery", async () => {
        const { items } = await webhooks.deliveries.list(id, { event_type: "browser.ended" });
        const found = items.filter(({ payload }) => payload.includes(browser.session_id));
        return found.length > 0 && found;
      });
      expect(others).toEqual([]);
      expect(JSON.parse(delivery?.payload ?? "")).toMatchObject({
        type: "browser.ended",
        data: { session_id: browser.session_id, ended_reason: "deleted" },
      });
      expect(await webhooks.deliveries.redeliver(id, delivery?.id ?? "")).toMatchObject({
        event_id: delivery?.event_id,
      });
      await webhooks.update(id, { enabled: false });
      expect(await codeOf(webhooks.deliveries.redeliver(id, delivery?.id ?? ""))).toBe("409 conflict");
      await webhooks.update(id, { enabled: true });
      expect(await codeOf(webhooks.deliveries.redeliver(id, "unknown"))).toBe("404 not_found");
      await webhooks.delete(id);
    });
  });
}
