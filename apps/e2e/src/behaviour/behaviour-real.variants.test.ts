import { Shoal } from "@shoal/client";
import { describe, expect } from "vitest";
import { describeService } from "./describe-service.ts";
import { placements } from "../testing/components.ts";
import { runService } from "../testing/service.ts";

describe.each(placements)("in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with its components", () => {
    describeService("the real service", async () => {
      const running = await runService(["--placement", placement]);
      const { apiKey, baseUrl } = running.service;
      return {
        shoal: running.shoal,
        apiKey,
        baseUrl,
        fetch: (input, init) => fetch(input, init),
        clientWith: (options) => new Shoal({ apiKey, baseUrl, ...options }),
        enforcesPermissions: placement === "sandbox" || process.geteuid?.() !== 0,
        hasBoxes: placement !== "process",
        async close() {
          await running.end();
          expect(running.service.output()).not.toContain("did not stop cleanly");
        },
      };
    });
  });
});
