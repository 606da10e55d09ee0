import type { Browser } from "@shoal/client";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { anonymousBytes } from "../testing/memory.ts";
import { allProcesses, chromiums, descendantsOf, instances, type ProcessEntry } from "../testing/processes.ts";
import { runService } from "../testing/service.ts";
import { runtimeDirs, sessionFolders } from "../testing/session-folder.ts";

/** Set the variable for a longer run by hand. */
const cycles = Number(process.env.SHOAL_TEST_SESSIONS ?? 60);
const atOnce = 3;

describe.each(placements)(
  `${cycles} sessions that end in every way, in the placement $title`,
  ({ placement, skip }) => {
    describe.skipIf(skip)("leave nothing", () => {
      let temporary: string;
      let test: Awaited<ReturnType<typeof runService>>;
      beforeAll(async () => {
        temporary = mkdtempSync(join(tmpdir(), "shoal-t-"));
        test = await runService(["--placement", placement, "--log-level", "info", "--log-format", "json"], {
          env: { ...process.env, TMPDIR: temporary },
        });
      });
      afterAll(async () => {
        await test.end();
        rmSync(temporary, { recursive: true, force: true });
      });

      /** The processes of a session, the outermost first. */
      async function familyOf({ session_id }: Browser): Promise<ProcessEntry[]> {
        // The last line of a server may be incomplete.
        const line = await eventually("the log reports its start", () =>
          test.service
            .output()
            .split("\n")
            .find((text) => text.includes("session started") && text.includes(session_id) && text.endsWith("}")),
        );
        const { pid } = JSON.parse(line) as { pid: number };
        const all = allProcesses();
        return [...all.filter((entry) => entry.pid === pid), ...descendantsOf(pid, all)];
      }
      const kill = (victim: ProcessEntry | undefined) => {
        if (victim === undefined) throw new Error("Found no process to kill.");
        process.kill(victim.pid, "SIGKILL");
      };
      const use = async ({ cdp_ws_url, session_id }: Browser) => {
        const client = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url });
        await (await client.newPage()).goto("data:text/html,<h1>used</h1>");
        const { fs } = test.shoal.browsers;
        const { watch_id } = await fs.watch.start(session_id, { path: "/home/shoal", recursive: true });
        const next = fs.watch
          .events(session_id, watch_id, { maxReconnects: 0 })
          .next()
          .catch(() => undefined);
        await fs.writeFile(session_id, "x".repeat(100_000), { path: "/home/shoal/deep/er/file" });
        await next;
        return client;
      };

      /** The ways to end a session, with their `ended_reason`. */
      const ways: readonly (readonly [string, (browser: Browser) => Promise<void>])[] = [
        ["deleted", ({ session_id }) => test.shoal.browsers.delete(session_id)],
        [
          "instance_lost",
          async (browser) => {
            kill(instances(await familyOf(browser))[0]);
          },
        ],
        [
          "deleted",
          async (browser) => {
            const client = await use(browser);
            await test.shoal.browsers.delete(browser.session_id);
            await client.disconnect();
          },
        ],
        [
          "browser_crashed",
          async (browser) => {
            const [first] = chromiums(await familyOf(browser));
            kill(first);
            kill(
              await eventually("it was started again", async () =>
                chromiums(await familyOf(browser)).find(({ pid }) => pid !== first?.pid),
              ),
            );
          },
        ],
        [
          "instance_lost",
          async (browser) => {
            const client = await use(browser);
            kill((await familyOf(browser))[0]);
            await client.disconnect();
          },
        ],
      ];

      const expected = new Map<string, string>();
      async function cycle(index: number): Promise<void> {
        const idle = index % 20 === 19;
        const browser = await test.shoal.browsers.create({ timeout_seconds: idle ? 10 : 600 });
        const [reason, end] = idle
          ? (["timeout", async () => undefined] as const)
          : (ways[index % ways.length] ?? ways[0] ?? expect.unreachable());
        expected.set(browser.session_id, reason);
        await end(browser);
      }
      async function run(count: number): Promise<void> {
        let next = 0;
        await Promise.all(
          Array.from({ length: atOnce }, async () => {
            while (next < count) await cycle(next++);
          }),
        );
        await eventually("all have ended", async () => (await test.shoal.browsers.list()).items.length === 0);
      }

      /** Everything that a session may leave, by kind. */
      function traces() {
        const runtime = test.dataDirs.flatMap(runtimeDirs);
        const sockets = readFileSync("/proc/net/unix", "utf8")
          .split("\n")
          .filter((line) => [...runtime, test.folder].some((folder) => line.includes(folder)));
        return {
          processes: test.processes().map(({ command }) => command),
          sessionFolders: test.dataDirs.flatMap(sessionFolders),
          runtimeFiles: runtime.flatMap((folder) => readdirSync(folder)).sort(),
          temporaryFiles: readdirSync(temporary).sort(),
          unixSockets: sockets.length,
        };
      }
      /** Open descriptors of the servers, by server and kind. */
      function descriptors(): Record<string, number> {
        const kinds: Record<string, number> = {};
        for (const path of test.pids.flatMap((pid) =>
          readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`),
        )) {
          try {
            const kind = `${path.split("/")[2]} ${readlinkSync(path).replaceAll(/\d+/g, "")}`;
            kinds[kind] = (kinds[kind] ?? 0) + 1;
          } catch {
            // It was closed meanwhile.
          }
        }
        return kinds;
      }

      it("no process, socket, file or row in a wrong state", async () => {
        await run(20);
        const settled = () => traces().processes.length === 0 && traces().sessionFolders.length === 0;
        await eventually("all of the first are gone", settled);
        const restMs = 1_000; // Connections of the first sessions may still be closing.
        await delay(restMs);
        const [before, descriptorsBefore, memoryBefore] = [traces(), descriptors(), test.pids.map(anonymousBytes)];

        await run(cycles - 20);
        await eventually("all are gone", settled);
        // The number of pooled database and keep-alive client connections varies.
        const excess = () =>
          Object.entries(descriptors()).filter(
            ([kind, count]) => count > (descriptorsBefore[kind] ?? 0) + (kind.includes("socket:") ? 6 : 0),
          );
        await eventually("the descriptors are back", () => excess().length === 0).catch(() => {
          expect({ excess: excess(), before: descriptorsBefore }).toEqual({ excess: [], before: descriptorsBefore });
        });
        await eventually("the sockets are back", () => traces().unixSockets <= before.unixSockets);
        await eventuallyPasses(() => {
          expect({ ...traces(), unixSockets: before.unixSockets }).toEqual(before);
          for (const [index, bytes] of test.pids.map(anonymousBytes).entries())
            expect((bytes - (memoryBefore[index] ?? 0)) / 1024 ** 2).toBeLessThan(80);
        });

        const told = new Map<string, string | undefined>();
        for await (const session of await test.shoal.browsers.list({ status: "all", limit: 100 })) {
          expect(session.deleted_at).toBeDefined();
          told.set(session.session_id, session.ended_reason);
        }
        expect(told.size).toBe(cycles);
        expect([...expected].filter(([id, reason]) => told.get(id) !== reason)).toEqual([]);
        expect(test.service.output()).not.toMatch(/"level":"(?:error|fatal)"/);
      });
    });
  },
);
