import { Shoal } from "@shoal/client";
import { createFakeShoal } from "@shoal/testing";
import { describe } from "vitest";
import { describeService } from "./behaviour/describe-service.ts";
import { describeSameAnswers } from "./behaviour/same-answers.ts";
import { placements } from "./testing/components.ts";
import { runService } from "./testing/service.ts";

// The placement that this machine has: what a session's box is made of is another test's matter.
const [sandbox, plain] = placements;
const chosen = sandbox?.skip === false ? sandbox : plain;

describe.skipIf(chosen?.skip !== false)(`in the placement ${chosen?.title ?? ""}`, () => {
  describeService(
    "the real service",
    async () => {
      const running = await runService(["--placement", chosen?.placement ?? "process"]);
      const { apiKey, baseUrl } = running.service;
      return {
        shoal: running.shoal,
        apiKey,
        baseUrl,
        fetch: (input, init) => fetch(input, init),
        clientWith: (options) => new Shoal({ apiKey, baseUrl, ...options }),
        enforcesPermissions: chosen?.placement === "sandbox" || process.geteuid?.() !== 0,
        close: () => running.end(),
      };
    },
    {
      also(test) {
        const { apiKey, fetch } = createFakeShoal();
        describeSameAnswers(test, new Shoal({ apiKey, fetch }));
      },
    },
  );
});
