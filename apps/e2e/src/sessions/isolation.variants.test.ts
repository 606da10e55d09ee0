import type { Browser } from "@shoal/client";
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import puppeteer, { type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { navigationFailure } from "../testing/page.ts";
import { listeningSockets } from "../testing/listening.ts";
import { chromiums, descendantsOf, type ProcessEntry } from "../testing/processes.ts";
import { codeOf } from "../testing/refusal.ts";
import { runService, type TestService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";

describe.each(placements)("two sessions in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of one service", () => {
    const canary = "canary-5c1f0e";
    let test: TestService;
    let end: () => Promise<void>;
    let one: Browser;
    let two: Browser;
    let page: Page;
    let familyOfTwo: readonly ProcessEntry[];
    let close: () => Promise<void>;
    beforeAll(async () => {
      const running = await runService(["--placement", placement], {
        env: { ...process.env, CANARY: canary, SHOAL_API_KEY: canary },
      });
      test = running;
      end = () => running.end();
      one = await test.shoal.browsers.create({ timeout_seconds: 86_400 });
      // With several servers, the tests that look at processes skip themselves.
      const ofService = () => (serverCount > 1 ? [] : descendantsOf(test.service.pid));
      const before = new Set(ofService().map(({ pid }) => pid));
      two = await test.shoal.browsers.create({ timeout_seconds: 86_400 });
      familyOfTwo = ofService().filter(({ pid }) => !before.has(pid));
      await test.shoal.browsers.fs.writeFile(two.session_id, canary, { path: "/home/shoal/secret" });
      const client = await puppeteer.connect({ browserWSEndpoint: one.cdp_ws_url });
      close = () => client.disconnect();
      page = await client.newPage();
    });
    afterAll(async () => {
      await close();
      await end();
    });

    it("neither can see the files of the other through the service", async () => {
      const { fs } = test.shoal.browsers;
      expect(await codeOf(fs.readBytes(one.session_id, { path: "/home/shoal/secret" }))).toBe("404 not_found");
      expect(await fs.readText(two.session_id, { path: "/home/shoal/secret" })).toBe(canary);
    });

    it("a page reaches no port of this machine, under any of its names, nor the cloud's metadata", async () => {
      const { port } = new URL(test.service.baseUrl);
      for (const host of [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "sub.localhost",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "100.64.0.1",
        "169.254.169.254",
      ]) {
        expect(await navigationFailure(page, `http://${host}:${port}/health`), host).toContain(
          "net::ERR_EMPTY_RESPONSE",
        );
        // The reason of this refusal, which no answer of the service has.
        await expect.poll(() => page.evaluate("document.body?.innerText"), { message: host }).toMatch(/may not reach/);
      }
      for (const url of [`ws://127.0.0.1:${port}/`, `wss://127.0.0.1:${port}/`]) {
        expect(
          await page.evaluate(
            (address) =>
              new Promise((resolve) => {
                const socket = new WebSocket(address);
                socket.onopen = () => {
                  resolve("open");
                };
                socket.onerror = () => {
                  resolve("refused");
                };
              }),
            url,
          ),
        ).toBe("refused");
      }
    });

    it("a page cannot reach the ports of a session's browser and instance, its own or the other's", async () => {
      const ofService = descendantsOf(test.service.pid);
      const listening = familyOfTwo.flatMap((entry) => listeningSockets(entry));
      expect(listening.length).toBeGreaterThan(0);
      expect(
        listening.filter(({ address }) => address !== "0100007F" && address !== "00000000000000000000000001000000"),
      ).toEqual([]);
      const refused = async (port: number) => {
        expect(await navigationFailure(page, `http://127.0.0.1:${port}/json/version`)).toContain(
          "net::ERR_EMPTY_RESPONSE",
        );
      };
      for (const { port } of listening) await refused(port);
      const own = ofService.filter(
        ({ pid, command }) => familyOfTwo.every((other) => other.pid !== pid) && !command.includes("postgres"),
      );
      for (const { port } of own.flatMap((entry) => listeningSockets(entry))) await refused(port);
    });

    it("no process of a session receives a secret of the service", () => {
      const secrets = [test.service.apiKey, readFileSync(join(test.dataDir, "secret.key"), "utf8").trim(), canary];
      const seen = familyOfTwo.map(({ pid }) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "utf8") + readFileSync(`/proc/${pid}/cmdline`, "utf8");
        } catch {
          return ""; // It has ended, or is unreadable for a plain user.
        }
      });
      expect(seen.some((text) => text.includes("SHOAL_INSTANCE"))).toBe(true);
      for (const secret of secrets) expect(seen.filter((text) => text.includes(secret))).toEqual([]);
    });

    if (placement === "sandbox") {
      it("a page reads no file of the host or the other session", async () => {
        writeFileSync(join(test.dataDir, "host-file"), canary);
        const read = async (path: string) => {
          const answer = await page.goto(`file://${path}`).catch(String);
          return typeof answer === "string" || answer === null ? String(answer) : answer.text();
        };
        for (const path of [
          "/etc/shadow",
          "/root",
          join(test.dataDir, "host-file"),
          test.dataDir,
          join(test.dataDir, "secret.key"),
          "/home/shoal/secret",
          "/proc/1/root/etc/shadow",
        ]) {
          expect([path, await read(path)]).toEqual([
            path,
            expect.stringMatching(/ERR_FILE_NOT_FOUND|ERR_ACCESS_DENIED/),
          ]);
        }
        expect(await read("/home")).toContain("shoal");
        expect(await read("/etc/passwd")).not.toBe(readFileSync("/etc/passwd", "utf8"));
        for (const path of [
          "/proc/self/environ",
          "/proc/1/environ",
          "/proc/self/cmdline",
          "/proc/net/tcp",
          "/run/shoal",
          "/var/lib/shoal",
          "/tmp",
        ])
          expect(await read(path)).not.toContain(canary);
      });

      it("a box has separate users, processes and networks, and nothing of the host's environment", async () => {
        const { fs } = test.shoal.browsers;
        const read = (path: string) => fs.readText(one.session_id, { path });
        // No process of the session can read the instance's own environment.
        expect(await codeOf(read("/proc/self/environ"))).toBe("403 permission_denied");
        const { stdout: environment } = await test.shoal.browsers.process.run(one.session_id, {
          command: "env",
          args: ["-0"],
        });
        expect(environment).toContain("SHOAL_COMMAND=");
        for (const secret of [
          test.service.apiKey,
          readFileSync(join(test.dataDir, "secret.key"), "utf8").trim(),
          canary,
        ])
          expect(environment).not.toContain(secret);
        const names = new Set(
          environment
            .split("\0")
            .map((line) => line.split("=")[0])
            .filter((name) => name !== ""),
        );
        expect(
          [...names].filter(
            (name) =>
              !/^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|PWD|SHOAL_COMMAND|(?:https?|no)_proxy)$/i.test(name ?? ""),
          ),
        ).toEqual([]);
        expect(await read("/proc/sys/kernel/hostname")).toBe("shoal\n");
        expect(/^(Uid:\s.*)$/m.exec(await read("/proc/self/status"))?.[1]).not.toMatch(/\s0(\s|$)/);
        expect(/^CapEff:\s*(\w+)$/m.exec(await read("/proc/self/status"))?.[1]).toBe("0000000000000000");
        expect(/^NoNewPrivs:\s*(\w+)$/m.exec(await read("/proc/self/status"))?.[1]).toBe("1");
        const devices = (await read("/proc/net/dev"))
          .split("\n")
          .slice(2)
          .map((line) => line.split(":")[0]?.trim())
          .filter(Boolean);
        // Both ends of a pair without a route make pages online. Some kernels create tunnel devices, which are down, in every
        // namespace.
        expect(
          devices.filter((name) => !/^(lo|eth0|peer0|\w*(tunl|tnl|sit|gre|gretap|erspan|vti)\d)$/.test(name ?? "")),
        ).toEqual([]);
        const pids = (await fs.listFiles(one.session_id, { path: "/proc" })).filter(({ name }) => /^\d+$/.test(name));
        expect(pids.length).toBeLessThan(40);
        expect(pids.map(({ name }) => Number(name))).not.toContain(test.service.pid);
        expect(await codeOf(fs.readBytes(one.session_id, { path: "/etc/shadow" }))).toMatch(/^40[34] /);
        expect(await codeOf(fs.writeFile(one.session_id, "x", { path: "/usr/bin/env" }))).toBe("403 permission_denied");
        expect(await codeOf(fs.writeFile(one.session_id, "x", { path: "/etc/passwd" }))).toBe("403 permission_denied");
        expect(await codeOf(fs.writeFile(one.session_id, "x", { path: "/proc/sys/kernel/core_pattern" }))).toMatch(
          /^40[03] /,
        );
      });

      it("each box has separate namespaces", () => {
        const [browserOfTwo] = chromiums(familyOfTwo);
        const all = chromiums(descendantsOf(test.service.pid));
        expect(all).toHaveLength(2);
        for (const kind of ["net", "pid", "mnt", "ipc", "uts"]) {
          const ids = [...all.map(({ pid }) => pid), test.service.pid].map((pid) =>
            readlinkSync(`/proc/${pid}/ns/${kind}`),
          );
          expect([kind, new Set(ids).size]).toEqual([kind, 3]);
        }
        expect(browserOfTwo).toBeDefined();
      });
    } else {
      it("warns that sessions run without isolation", () => {
        expect(test.service.output()).toMatch(/without isolation/);
      });
    }
  });
});
