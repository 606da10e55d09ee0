import type { Browser } from "@shoal/client";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { missingFor } from "../testing/components.ts";
import { instances, killAll } from "../testing/processes.ts";
import { runService, useService } from "../testing/service.ts";

const missing = missingFor("sandbox");

/** Connects an idle client. @returns the code and reason of its close. */
async function closeOf(address: string, headers = {}): Promise<Promise<[code: number, reason: string]>[]> {
  const socket = new WebSocket(address, { headers });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return [
    new Promise((resolve) => {
      socket.on("error", () => undefined);
      socket.once("close", (code, reason) => {
        resolve([code, reason.toString()]);
      });
    }),
  ];
}

async function closesOf(browser: Browser): Promise<Promise<[code: number, reason: string]>[]> {
  return (await Promise.all([closeOf(browser.cdp_ws_url), closeOf(browser.webdriver_ws_url)])).flat();
}

describe.skipIf(missing !== undefined)(
  `the WebSockets of a session that ends${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => ["--placement", "sandbox"]);

    it("close with its ended_reason: deleted or max_duration", async () => {
      const [deleted, limited] = await Promise.all([
        test.shoal.browsers.create(),
        test.shoal.browsers.create({ max_duration_seconds: 40 }),
      ]);
      const [closes, later] = await Promise.all([closesOf(deleted), closesOf(limited)]);
      await test.shoal.browsers.delete(deleted.session_id);
      expect(await Promise.all(closes)).toEqual([
        [1001, "deleted"],
        [1001, "deleted"],
      ]);
      expect(await Promise.all(later)).toEqual([
        [1001, "max_duration"],
        [1001, "max_duration"],
      ]);
    });

    it("close with its ended_reason: instance_lost", async () => {
      const browser = await test.shoal.browsers.create();
      const closes = await closesOf(browser);
      killAll(instances(test.processes()));
      expect(await Promise.all(closes)).toEqual([
        [1011, "instance_lost"],
        [1011, "instance_lost"],
      ]);
    });

    it("close with its ended_reason: server_stopped", async () => {
      const own = await runService(["--placement", "sandbox"]);
      const closes = await closesOf(await own.shoal.browsers.create());
      await own.end();
      expect(await Promise.all(closes)).toEqual([
        [1001, "server_stopped"],
        [1001, "server_stopped"],
      ]);
    });

    it("open with an API key in a header and with the token in the address", async () => {
      const browser = await test.shoal.browsers.create();
      for (const address of [browser.cdp_ws_url, browser.webdriver_ws_url]) {
        const bare = new URL(address);
        bare.search = "";
        await expect(closeOf(bare.href)).rejects.toThrow("401");
        await expect(closeOf(bare.href, { authorization: "Bearer sk_shoal_wrong" })).rejects.toThrow("401");
        expect(await closeOf(bare.href, { authorization: `Bearer ${test.service.apiKey}` })).toHaveLength(1);
      }
      await test.shoal.browsers.delete(browser.session_id);
    });
  },
);
