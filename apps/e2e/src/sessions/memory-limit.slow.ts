import puppeteer from "puppeteer-core";
import { accessSync, constants, existsSync, globSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { describe, expect, it } from "vitest";
import { missingForWindows, placements } from "../testing/components.ts";
import { codeOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";

/** Whether control groups can be created: as root, on most systems. */
const canLimit =
  process.platform === "linux" &&
  globSync("/sys/fs/cgroup{,/memory}/cgroup.procs").some(isWritable) &&
  /\bmemory\b/.test(readFileSync("/proc/self/cgroup", "utf8") + controllers());

// CI requires these tests where root may write control groups.
const isRequired =
  process.env.SHOAL_REQUIRE_ALL === "1" &&
  process.getuid?.() === 0 &&
  existsSync("/proc/mounts") &&
  / cgroup rw,\S*\bmemory\b|\/sys\/fs\/cgroup cgroup2 rw/.test(readFileSync("/proc/mounts", "utf8"));
const isSkipped = !canLimit && !isRequired;

/** Memory of the machine or container. */
const machineBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);

describe.each(placements.filter(({ placement }) => placement === "sandbox"))(
  `a session that takes more memory than it may, in the placement $title${isSkipped ? " (skipped, no control group can be made here; root may, where /sys/fs/cgroup can be written)" : ""}`,
  ({ placement, skip }) => {
    describe.skipIf(skip || isSkipped)("of a service", () => {
      const test = useService(() => ["--placement", placement, "--session-memory-mb", "600"]);

      it("loses its largest page, reports it, and continues", async () => {
        const { browsers } = test.shoal;
        const { session_id: id, cdp_ws_url: address } = await browsers.create({
          timeout_seconds: 600,
          telemetry: { browser: { system: {} } },
        });
        const neighbour = await browsers.create({ timeout_seconds: 600 });
        const client = await puppeteer.connect({ browserWSEndpoint: address });
        const page = await client.newPage();
        const crashed = new Promise((resolve) => page.on("error", resolve));
        await page.evaluate(() => {
          const kept: Uint8Array[] = [];
          setInterval(() => kept.push(new Uint8Array(16 * 2 ** 20).fill(1)), 20);
        });
        for await (const { event } of browsers.telemetry.stream(id, { replay: "all" })) {
          if (event.type !== "system_oom_kill") continue;
          expect(Number(event.data?.rss_kb)).toBeGreaterThan(50_000);
          break;
        }
        await crashed;
        await client.disconnect();
        for (const session of [id, neighbour.session_id]) {
          expect(
            await browsers.playwright.execute(session, {
              code: 'await page.goto("data:text/html,<title>alive</title>"); return page.title();',
            }),
          ).toMatchObject({ success: true, result: "alive" });
          await browsers.delete(session);
        }
      });

      it("gets more memory if requested and available", async () => {
        const { browsers } = test.shoal;
        const ask = {
          headless: false,
          memory: "8GiB",
          viewport: { width: 800, height: 600 },
          timeout_seconds: 600,
        } as const;
        if (missingForWindows !== undefined || machineBytes < 8 * 2 ** 30) {
          expect(await codeOf(browsers.create(ask))).toBe("400 bad_request");
          return;
        }
        const asked = await browsers.create(ask);
        expect(asked.memory).toBe("8GiB");
        const client = await puppeteer.connect({ browserWSEndpoint: asked.cdp_ws_url });
        // More than the service's own limit for all sessions.
        const taken = await (
          await client.newPage()
        ).evaluate(() => {
          const kept = Array.from({ length: 48 }, () => new Uint8Array(16 * 2 ** 20).fill(1));
          return kept.reduce((bytes, { length }) => bytes + length, 0);
        });
        expect(taken).toBe(48 * 16 * 2 ** 20);
        await client.disconnect();
        await browsers.delete(asked.session_id);
        expect((await browsers.get(asked.session_id, { include_deleted: true })).memory).toBe("8GiB");
      });
    });
  },
);

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function controllers(): string {
  try {
    return readFileSync("/sys/fs/cgroup/cgroup.controllers", "utf8");
  } catch {
    return "";
  }
}
