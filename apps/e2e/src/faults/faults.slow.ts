import { ApiError, type Browser } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import puppeteer from "puppeteer-core";
import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { chromiums, instances, type ProcessEntry } from "../testing/processes.ts";
import { useService } from "../testing/service.ts";
import { sessionFolders } from "../testing/session-folder.ts";

describe.each(placements)(
  "when an instance dies while its session is made, in the placement $title",
  ({ placement, skip }) => {
    describe.skipIf(skip)("nothing is left of it", () => {
      const test = useService(() => ["--placement", placement]);

      const below = () => test.processes();
      const victims: readonly (readonly [string, (family: readonly ProcessEntry[]) => ProcessEntry | undefined])[] = [
        ["its first process", (family) => family.find(({ parent }) => !family.some(({ pid }) => pid === parent))],
        ["the program", (family) => instances(family)[0]],
        ["Chromium", (family) => chromiums(family)[0]],
      ];

      it.each(victims.flatMap(([name, victimOf]) => [0, 80].map((afterMs) => [name, afterMs, victimOf] as const)))(
        "%s killed %d ms after it is seen",
        async (_name, afterMs, victimOf) => {
          const creating: Promise<Browser | ApiError> = test.shoal.browsers
            .create({ name: "doomed", timeout_seconds: 600 }, { maxRetries: 0 })
            .catch((error: unknown) => {
              if (ApiError.isInstance(error)) return error;
              throw error;
            });
          const victim = await eventually("it is seen", () => victimOf(below()));
          await delay(afterMs);
          try {
            process.kill(victim.pid, "SIGKILL");
          } catch {
            // The process has already ended.
          }
          const made = await creating;
          if (ApiError.isInstance(made)) {
            // Callers may retry this failure.
            expect([made.status >= 500, made.message]).toEqual([true, expect.stringMatching(/./)]);
          } else {
            // A Chromium that dies before it is ready is started again.
            const state = await eventually("its end is reported, or it works", async () => {
              const { ended_reason } = await test.shoal.browsers.get(made.session_id, { include_deleted: true });
              if (ended_reason !== undefined) return ended_reason;
              const client = await puppeteer.connect({ browserWSEndpoint: made.cdp_ws_url }).catch(() => undefined);
              const works = await client?.version().catch(() => undefined);
              await client?.disconnect().catch(() => undefined);
              return works === undefined ? undefined : "works";
            });
            expect(["instance_lost", "browser_crashed", "works"]).toContain(state);
            if (state === "works") await test.shoal.browsers.delete(made.session_id);
          }
          await eventually("no process of it is left", () => below().length === 0);
          await eventually("no file of it is left", () => test.dataDirs.flatMap(sessionFolders).length === 0);
          expect((await test.shoal.browsers.list()).items).toEqual([]);
          const next = await test.shoal.browsers.create({ name: "doomed" });
          await test.shoal.browsers.delete(next.session_id);
          await eventually("nor of the next", () => below().length === 0);
        },
      );
    });
  },
);
