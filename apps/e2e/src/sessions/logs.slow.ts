import { eventually } from "@shoal/testkit";
import Kernel from "@onkernel/sdk";
import puppeteer from "puppeteer-core";
import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { chromiums, descendantsOf, killAll } from "../testing/processes.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

describe.each(placements)("logs in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test);
    const stream = (query: Parameters<typeof test.shoal.browsers.logs.stream>[1]) =>
      test.shoal.browsers.logs.stream(session.id, query);
    const all = async (query: Parameters<typeof stream>[0]) => {
      const lines: string[] = [];
      for await (const { message } of stream({ ...query, follow: false })) lines.push(message);
      return lines;
    };
    const run = (command: string) => test.shoal.browsers.process.run(session.id, { command });

    it("follows a file that a program of the session writes and rotates", async () => {
      const path = "/home/shoal/app.log";
      await run("printf 'one\\ntwo\\n' > app.log");
      expect(await all({ source: "path", path })).toEqual(["one", "two"]);
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { message, event, timestamp } of stream({ source: "path", path })) {
          expect([event, Number.isNaN(Date.parse(timestamp))]).toEqual(["log", false]);
          seen.push(message);
          if (message === "six") break;
        }
      })();
      await eventually("the old lines are there", () => seen.length === 2);
      await run("echo three >> app.log; mv app.log app.log.1; echo four >> app.log.1; echo five > app.log");
      await eventually("the new file is followed", () => seen.includes("five"));
      await run(": > app.log; sleep 0.5; echo six >> app.log");
      await reading;
      expect(seen).toEqual(["one", "two", "three", "four", "five", "six"]);
    });

    it("includes the output of Chromium, also after a crash and restart, and the log of the instance", async () => {
      const { pid } = test.service;
      const chromium = { source: "supervisor", supervisor_process: "chromium" } as const;
      expect((await all(chromium)).filter((line) => line.startsWith("DevTools listening on"))).toHaveLength(1);
      const following = (async () => {
        let starts = 0;
        for await (const { message } of stream(chromium))
          if (message.startsWith("DevTools listening on") && ++starts === 2) return;
      })();
      const running = chromiums(descendantsOf(pid));
      expect(running.length).toBeGreaterThan(0);
      killAll(running);
      await following;
      const browser = await test.shoal.browsers.get(session.id);
      await (await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url })).disconnect();
      const said = (await all({ source: "supervisor", supervisor_process: "instance" })).map(
        (line) => (JSON.parse(line) as { message: string }).message,
      );
      expect(said).toContain("the browser crashed and is started again");
    });

    it("lists the sources", async () => {
      expect(await refusalOf(stream({ source: "supervisor", supervisor_process: "neko" }).next())).toMatchObject({
        status: 400,
        message: expect.stringContaining("chromium and instance") as unknown,
      });
      expect(await codeOf(stream({ source: "path", path: "/home/shoal/none.log" }).next())).toBe("404 not_found");
      expect(await codeOf(stream({ source: "path", path: "/home/shoal" }).next())).toBe("400 not_a_file");
      expect(await codeOf(stream({ source: "path" }).next())).toBe("400 bad_request");
    });

    it("works with the hosted service's SDK", async () => {
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      await run("printf 'a\\nb\\n' > sdk.log");
      const lines: string[] = [];
      for await (const event of await kernel.browsers.logs.stream(session.id, {
        source: "path",
        path: "/home/shoal/sdk.log",
        follow: false,
      }))
        lines.push(`${event.event}: ${event.message}`);
      expect(lines).toEqual(["log: a", "log: b"]);
    });

    it("ends with the session", async () => {
      const { session_id } = await test.shoal.browsers.create();
      const end = test.shoal.browsers.logs.stream(
        session_id,
        { source: "supervisor", supervisor_process: "chromium" },
        { maxReconnects: 0 },
      );
      await end.next();
      const rest = (async () => {
        for await (const _ of end);
      })().catch(() => undefined);
      await test.shoal.browsers.delete(session_id);
      await rest;
    });
  });
});
