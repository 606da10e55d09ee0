import type { Browser } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { existsSync } from "node:fs";
import puppeteer from "puppeteer-core";
import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { placements } from "../testing/components.ts";
import {
  allProcesses,
  chromiums,
  descendantsOf,
  instances,
  killAll,
  type ProcessEntry,
  survivors,
} from "../testing/processes.ts";
import { refusalOf } from "../testing/refusal.ts";
import { runService, type TestService, useService } from "../testing/service.ts";
import { hostPathOf, runtimeDirs, sessionFolders } from "../testing/session-folder.ts";

const allGone = (family: readonly ProcessEntry[]) =>
  eventually(
    `these end: ${family.map(({ pid, command }) => `${pid} ${command.slice(0, 60)}`).join(", ")}`,
    () => survivors(family).length === 0,
  );

function endOf(test: TestService, { session_id }: Browser): Promise<Browser> {
  return eventually("the session has ended", async () => {
    const session = await test.shoal.browsers.get(session_id, { include_deleted: true });
    return session.deleted_at === undefined ? undefined : session;
  });
}

describe.each(placements)("after kill -9 in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of the server", () => {
    it.each([
      ["that was at work", []],
      ["that had instances waiting", ["--warm", "2"]],
    ])("%s, no process is left, and the next start cleans up and works", async (_, flags) => {
      const first = await runService(["--placement", placement, ...flags]);
      const { dataDir } = first;
      let second: Awaited<ReturnType<typeof runService>> | undefined;
      try {
        const sessions = await Promise.all([
          first.shoal.browsers.create({ name: "named" }),
          first.shoal.browsers.create(),
          first.shoal.browsers.create({ isolation: "context" }),
        ]);
        const profile = await first.shoal.profiles.create({ name: "kept" });
        const client = await puppeteer.connect({ browserWSEndpoint: sessions[0].cdp_ws_url });
        await (await client.newPage()).goto("data:text/html,<title>open</title>");
        const { watch_id } = await first.shoal.browsers.fs.watch.start(sessions[1].session_id, { path: "/home/shoal" });
        const following = allOf(
          first.shoal.browsers.fs.watch.events(sessions[1].session_id, watch_id, { maxReconnects: 0 }),
        ).catch(() => "cut off");
        const family = descendantsOf(first.service.pid);
        expect(chromiums(family).length).toBeGreaterThanOrEqual(2);
        expect(family.some(({ command }) => command.includes("postgres"))).toBe(true);
        const left = runtimeDirs(dataDir);
        expect(left).toHaveLength(1);
        const folders = sessionFolders(dataDir);
        expect(folders.length).toBeGreaterThanOrEqual(2);

        await first.service.stop("SIGKILL");
        await allGone(family);
        // Processes started after that look end a moment later.
        await eventually("nothing of it is left", () =>
          allProcesses().every(({ command }) => !command.includes(dataDir)),
        );
        expect(await following).toBe("cut off");
        await client.disconnect();

        second = await runService(["--placement", placement, ...flags], { dataDir });
        expect(second.service.apiKey).toBe(first.service.apiKey);
        const { shoal } = second;
        for (const session of sessions) {
          const ended = await shoal.browsers.get(session.session_id, { include_deleted: true });
          expect(ended).toMatchObject({ ended_reason: "instance_lost", deleted_at: expect.any(String) as unknown });
          expect((await refusalOf(shoal.browsers.get(session.session_id))).code).toBe("not_found");
          expect(await refusalOf(shoal.browsers.fs.listFiles(session.session_id, { path: "/" }))).toMatchObject({
            status: 404,
            message: expect.stringContaining("instance_lost") as unknown,
          });
        }
        expect((await shoal.browsers.list()).items).toEqual([]);
        expect((await shoal.profiles.get("kept")).id).toBe(profile.id);
        for (const dir of left) expect(existsSync(dir)).toBe(false);
        for (const name of sessionFolders(dataDir)) expect(folders).not.toContain(name);
        await using again = await shoal.browsers.create({ name: "named" });
        await (await puppeteer.connect({ browserWSEndpoint: again.cdp_ws_url })).disconnect();
      } finally {
        await first.service.stop("SIGKILL");
        await (second ?? first).end();
      }
      await eventually("nothing of either is left", () =>
        allProcesses().every(({ command }) => !command.includes(dataDir)),
      );
    });

    it("leaves nothing that prevents an immediate restart", async () => {
      const first = await runService(["--placement", placement]);
      const services = [first];
      try {
        for (let round = 0; round < 3; round++) {
          await services.at(-1)?.shoal.browsers.create();
          await services.at(-1)?.service.stop("SIGKILL");
          services.push(await runService(["--placement", placement], { dataDir: first.dataDir }));
        }
        const sessions = await services.at(-1)?.shoal.browsers.list({ status: "all" });
        expect(sessions?.items.map(({ ended_reason }) => ended_reason)).toEqual([
          "instance_lost",
          "instance_lost",
          "instance_lost",
        ]);
        expect(sessionFolders(first.dataDir)).toEqual([]);
      } finally {
        await services.at(-1)?.end();
      }
      await eventually("nothing is left", () =>
        allProcesses().every(({ command }) => !command.includes(first.dataDir)),
      );
    });
  });

  describe.skipIf(skip)("of a part of a session", () => {
    const test = useService(() => ["--placement", placement]);

    /** Starts a session and, next to it, another that must not be affected. */
    async function sessionAndFamily() {
      const before = new Set(test.processes().map(({ pid }) => pid));
      const browser = await test.shoal.browsers.create({ timeout_seconds: 600 });
      const folder = await hostPathOf(test, browser.session_id, "/home/shoal");
      const family = test.processes().filter(({ pid }) => !before.has(pid));
      expect(chromiums(family)).toHaveLength(1);
      const bystander = await test.shoal.browsers.create({ timeout_seconds: 600 });
      await test.shoal.browsers.fs.writeFile(bystander.session_id, "untouched", { path: "/home/shoal/file" });
      return { browser, bystander, family, folder };
    }

    async function expectUntouched(bystander: Browser): Promise<void> {
      expect(await test.shoal.browsers.fs.readText(bystander.session_id, { path: "/home/shoal/file" })).toBe(
        "untouched",
      );
      const client = await puppeteer.connect({ browserWSEndpoint: bystander.cdp_ws_url });
      expect(await client.version()).toContain("Chrome");
      await client.disconnect();
      expect((await test.shoal.browsers.get(bystander.session_id)).browser_restarts).toBe(0);
      await test.shoal.browsers.delete(bystander.session_id);
    }

    const victims: readonly (readonly [string, (family: readonly ProcessEntry[]) => ProcessEntry | undefined])[] = [
      ["the instance program", (family) => instances(family)[0]],
      ...(placement === "sandbox"
        ? [
            [
              "the box",
              (family: readonly ProcessEntry[]) =>
                family.find(
                  ({ command, parent }) => family.every(({ pid }) => pid !== parent) && command.includes("bwrap"),
                ),
            ] as const,
          ]
        : []),
    ];
    it.each(victims)("%s, the session ends as instance_lost and nothing of it is left", async (_, victimOf) => {
      const { browser, bystander, family, folder } = await sessionAndFamily();
      const client = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url });
      const disconnected = new Promise((resolve) => client.once("disconnected", resolve));
      const victim = victimOf(family);
      if (victim === undefined) throw new Error("It does not run.");
      process.kill(victim.pid, "SIGKILL");
      expect((await endOf(test, browser)).ended_reason).toBe("instance_lost");
      await allGone(family);
      await disconnected;
      await eventually("its folder is removed", () => !existsSync(folder));
      expect(await refusalOf(test.shoal.browsers.fs.listFiles(browser.session_id, { path: "/" }))).toMatchObject({
        status: 404,
        code: "not_found",
        message: expect.stringContaining("instance_lost") as unknown,
      });
      expect((await test.shoal.browsers.list()).items.map(({ session_id }) => session_id)).not.toContain(
        browser.session_id,
      );
      await expectUntouched(bystander);
    });

    it("Chromium, its helpers end and it restarts; after the second time the session ends", async () => {
      const { browser, bystander, family, folder } = await sessionAndFamily();
      const others = new Set(test.processes().map(({ pid }) => pid));
      const [first] = chromiums(family);
      if (first === undefined) throw new Error("No browser runs.");
      const helpers = descendantsOf(first.pid);
      expect(helpers.length).toBeGreaterThan(1);
      process.kill(first.pid, "SIGKILL");
      await allGone(helpers);
      await eventually(
        "the service reports the restart",
        async () => (await test.shoal.browsers.get(browser.session_id)).browser_restarts === 1,
      );
      const second = await eventually("another runs", () =>
        chromiums(descendantsOf(instances(family)[0]?.pid ?? 0)).find(({ pid }) => !others.has(pid)),
      );
      // Only below this session's instance: the bystander's Chromium may start processes at any time.
      const later = descendantsOf(instances(family)[0]?.pid ?? 0).filter(({ pid }) => !others.has(pid));
      process.kill(second.pid, "SIGKILL");
      expect((await endOf(test, browser)).ended_reason).toBe("browser_crashed");
      await allGone([...family, ...later]);
      await eventually("its folder is removed", () => !existsSync(folder));
      await expectUntouched(bystander);
    });

    it("everything of the session at once, it still ends", async () => {
      const { browser, bystander, family, folder } = await sessionAndFamily();
      killAll(family);
      expect(["instance_lost", "browser_crashed"]).toContain((await endOf(test, browser)).ended_reason);
      await allGone(family);
      await eventually("its folder is removed", () => !existsSync(folder));
      await expectUntouched(bystander);
    });
  });
});
