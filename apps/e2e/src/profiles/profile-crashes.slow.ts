import { eventually } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fullChromiumPlacements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { allProcesses, chromiums, killAll } from "../testing/processes.ts";
import { rounds, seeded } from "../testing/seeded.ts";
import { runService, type TestService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    const name = /^\/sign-in\?name=(\w+)$/.exec(request.url ?? "")?.[1];
    if (name !== undefined)
      response.setHeader("set-cookie", [`user=${name}; Max-Age=86400; HttpOnly`, `visit=${name}`]);
    response.setHeader("content-type", "text/html").end("<!doctype html><title>site</title>");
  });
});
afterAll(() => site.close());

async function signIn(cdpUrl: string, name: string): Promise<void> {
  const client = await chromium.connectOverCDP(cdpUrl);
  const page = await firstPageOf(client);
  await page.goto(`${site.url}sign-in?name=${name}`);
  await client.close();
}

const ends = ["save", "end"] as const;
/** The crashing process: the browser, or only the network service, which has the cookies. */
const victims = ["browser", "browser", "network service"] as const;
/** Maximum time from the load to the crash: Chromium writes cookies within 30 s. */
const longestMs = rounds > 1 ? 30_000 : 1_500;

function cases() {
  const random = seeded("profile crashes");
  const one = <Item>(items: readonly [Item, ...Item[]]): Item => items[Math.floor(random() * items.length)] ?? items[0];
  return Array.from({ length: 10 * rounds }, (_, index) => ({
    index,
    full: index % 2 === 1,
    savesFirst: random() < 0.5,
    afterMs: Math.round(random() ** 2 * longestMs),
    victim: one(victims),
    how: one(ends),
  }));
}

// One placement is enough: the tested code is in the instance.
describe.each(fullChromiumPlacements.slice(0, 1))(
  "a profile whose browser crashes, in the placement $title",
  ({ placement, skip }) => {
    describe.skipIf(skip)("keeps its cookies", () => {
      let test: TestService & { end(): Promise<void> };
      beforeAll(async () => {
        test = await runService([
          "--placement",
          placement,
          "--allow-private-hosts",
          site.host,
          "--profile-checkpoint-seconds",
          "0",
        ]);
        await test.shoal.profiles.create({ name: "base" });
        await using browser = await test.shoal.browsers.create({ profile: { name: "base", save_changes: true } });
        await signIn(browser.cdp_ws_url, "loaded");
      });
      afterAll(() => test.end());

      it.each(cases())(
        "$index: $victim killed $afterMs ms after the load, saved first: $savesFirst, full Chromium: $full, then: $how",
        async (given) => {
          const { browsers, profiles } = test.shoal;
          const { id: profileId } = await profiles.clone("base", { name: `crash-${String(given.index)}` });
          const { cdp_ws_url, session_id } = await browsers.create({
            profile: { id: profileId, save_changes: true },
            stealth: given.full,
          });
          const name = given.savesFirst ? "saved" : "loaded";
          if (given.savesFirst) {
            await signIn(cdp_ws_url, name);
            await browsers.saveProfile(session_id);
          }
          await delay(given.afterMs);
          const below = test.processes();
          killAll(
            given.victim === "browser"
              ? chromiums(below)
              : below.filter(({ command }) => command.includes("network.mojom.NetworkService")),
          );
          if (given.victim === "browser")
            await eventually("it is restarted", async () => (await browsers.get(session_id)).browser_restarts === 1);
          if (given.how === "save") await browsers.saveProfile(session_id);
          await browsers.delete(session_id);
          const { cookies = [] } = (await profiles.storageState.get(profileId)) ?? {};
          expect(cookies.map(({ name: key, value }) => `${key}=${value}`).sort()).toEqual([
            `user=${name}`,
            `visit=${name}`,
          ]);
          expect(await profiles.get(profileId)).not.toHaveProperty("last_save_error");
          await eventually(
            "nothing of it runs",
            () => chromiums(allProcesses().filter(({ command }) => command.includes(session_id))).length === 0,
          );
        },
      );
    });
  },
);
