import type { InstanceEvent } from "@shoal/instance";
import { eventuallyPasses } from "@shoal/testkit";
import { familyOf, stillRunning } from "./testing/processes.ts";
import { openPlacement, runInside, sessionFolders, temporaryDirectory } from "./testing/placements.ts";
import { describeWith, needsOf, testedKinds } from "./testing/requirements.ts";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const assign = (session_id: string) => ({ session_id, timeout_seconds: 3_600 });

for (const kind of testedKinds()) {
  describeWith(["linux", ...needsOf(kind)], `a ${kind} placement`, () => {
    it("hands over an instance with a working browser, and removes its files at the end", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind });
      const instance = await placement.acquire(assign("s1"));
      expect(instance).toMatchObject({ kind });
      const family = familyOf(instance.pid);
      expect(family.some(({ name }) => name.startsWith("chrom") || name.startsWith("headless"))).toBe(true);
      expect(await sessionFolders(sessionsDir)).toEqual([instance.id]);

      const answer = await instance.request({ method: "GET", path: "/nothing" });
      expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([404, { code: "not_found" }]);

      await instance.stop();
      expect(await instance.ended).toEqual({ reason: "stopped" });
      expect(stillRunning(family)).toEqual([]);
      expect(await sessionFolders(sessionsDir)).toEqual([]);
      await instance.stop();
      await expect(instance.request({ method: "GET", path: "/" })).rejects.toMatchObject({ code: "instance_lost" });
      await expect(instance.connect()).rejects.toMatchObject({ code: "instance_lost" });
    });

    it("opens a raw connection for CDP", async () => {
      const { placement } = await openPlacement({ kind });
      const instance = await placement.acquire(assign("s1"));
      const socket = await instance.connect();
      socket.write(
        "GET /cdp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      );
      const [head] = (await once(socket, "data")) as [Buffer];
      expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /);
      const closed = once(socket, "close");
      await instance.stop();
      await closed;
    });

    it("keeps warm instances, and replaces taken and dead ones", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind, warm: 2, standIn: "fine" });
      await placement.warmReady();
      expect(await sessionFolders(sessionsDir)).toHaveLength(2);
      const [first, second, third] = await Promise.all([
        placement.acquire(assign("s1")),
        placement.acquire(assign("s2")),
        placement.acquire(assign("s3")),
      ]);
      expect(new Set([first.id, second.id, third.id]).size).toBe(3);
      await placement.warmReady();
      expect(await sessionFolders(sessionsDir)).toHaveLength(5);

      const waiting = (await sessionFolders(sessionsDir)).filter((id) => ![first.id, second.id, third.id].includes(id));
      // Containers are not children of this process.
      const { pid } = familyOf(kind === "docker" ? 1 : process.pid).find(
        (each) =>
          // Podman's monitor names the container, too.
          each.name !== "conmon" && waiting.some((id) => commandLineOf(each.pid).includes(id)),
      ) ?? { pid: 0 };
      expect(pid).toBeGreaterThan(0);
      process.kill(pid, "SIGKILL");
      await eventuallyPasses(async () => {
        const now = await sessionFolders(sessionsDir);
        expect(now.filter((id) => waiting.includes(id))).toHaveLength(1);
        expect(now).toHaveLength(5);
      });
      await placement.warmReady();
    });

    it("delivers the events of an instance in order, until it ends with its reason", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind, standIn: "fine" });
      const instance = await placement.acquire(assign("s1"));
      const events: InstanceEvent[] = [];
      const forget = instance.onEvent((event) => events.push(event));
      instance.onEvent(() => {
        throw new Error("a listener's own");
      });
      const sent: InstanceEvent[] = [
        { type: "activity", idle_since_ms: 1 },
        { type: "browser_restarted", exit_code: null, signal: "SIGSEGV" },
        { type: "ready" },
      ];
      await instance
        .request({ method: "POST", path: "/event" }, sent.map((event) => `${JSON.stringify(event)}\n`).join(""))
        .then((answer) => answer.resume());
      await eventuallyPasses(() => {
        expect(events).toEqual(sent);
      });
      forget();
      await instance
        .request(
          { method: "POST", path: "/exit" },
          JSON.stringify({ type: "ending", reason: "timeout", detail: "nobody came" }),
        )
        .then(
          (answer) => answer.resume(),
          () => undefined,
        );
      expect(await instance.ended).toEqual({ reason: "timeout", detail: "nobody came" });
      expect(events).toEqual(sent);
      expect(await sessionFolders(sessionsDir)).toEqual([]);
    });

    it.each([
      ["an endless line", "x".repeat(100_000)],
      ["invalid JSON", "{\n"],
      ["an unknown event", '{"type":"surprise"}\n'],
      ["a wrong field", '{"type":"activity","idle_since_ms":"now"}\n'],
      ["too many events", '{"type":"ready"}\n'.repeat(5_000)],
    ])("ends an instance that sends %s", async (_what, sent) => {
      const { placement } = await openPlacement({ kind, standIn: "fine" });
      const instance = await placement.acquire(assign("s1"));
      await instance.request({ method: "POST", path: "/event" }, sent).then(
        (answer) => answer.resume(),
        () => undefined,
      );
      expect(await instance.ended).toMatchObject({
        reason: "instance_lost",
        detail: expect.stringMatching(/^The instance was ended: it sent/) as unknown,
      });
    });

    it("treats a killed instance as lost, even if it reported that it stops because its parent ended", async () => {
      const { placement } = await openPlacement({ kind, standIn: "fine" });
      const instance = await placement.acquire(assign("s1"));
      const told = new Promise((resolve) => instance.onEvent(resolve));
      await instance
        .request(
          { method: "POST", path: "/event" },
          '{"type":"ending","reason":"stopped","detail":"the parent is gone"}\n',
        )
        .then((answer) => answer.resume());
      await told;
      process.kill(instance.pid ?? expect.unreachable(), "SIGKILL");
      expect(await instance.ended).toMatchObject({
        reason: "instance_lost",
        detail: expect.stringMatching(/^The instance ended with (signal SIGKILL|exit code 137)/) as unknown,
      });
    });

    it("reports the last lines of an instance that ended before it was ready, and removes its files", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind, standIn: "exits" });
      await expect(placement.acquire(assign("s1"))).rejects.toMatchObject({
        code: "start_failed",
        message: expect.stringMatching(
          /ended before it was ready \(exit code 3\).*libwhatever\.so is missing/s,
        ) as unknown,
      });
      expect(await sessionFolders(sessionsDir)).toEqual([]);
    });

    it("reports instances that are silent or never ready, and removes their files", async () => {
      const reports = async (standIn: "silent" | "never ready") => {
        const { placement, sessionsDir } = await openPlacement({ kind, standIn, readyMs: 5_000 });
        await expect(placement.acquire(assign("s1"))).rejects.toMatchObject({
          code: "start_failed",
          message: expect.stringMatching(
            /was not ready within 5 s\. It printed last:\nthe stand-in starts\nRun `shoal doctor`/,
          ) as unknown,
        });
        expect(await sessionFolders(sessionsDir)).toEqual([]);
      };
      await Promise.all([reports("silent"), reports("never ready")]);
    });

    it("reports the refusal of an instance, and ends the instance", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind, standIn: "refuses" });
      await expect(placement.acquire(assign("s1"))).rejects.toMatchObject({
        code: "instance_lost",
        message: expect.stringContaining("answered 409") as unknown,
      });
      expect(await sessionFolders(sessionsDir)).toEqual([]);
    });

    it.each(["silent", "never ready"] as const)(
      "removes all files when a caller aborts the wait for an instance that is %s",
      async (standIn) => {
        const { placement, sessionsDir } = await openPlacement({ kind, standIn });
        const before = familyOf(process.pid);
        const waiting = new AbortController();
        const acquired = placement.acquire(assign("s1"), waiting.signal);
        await eventuallyPasses(async () => {
          expect(await sessionFolders(sessionsDir)).toHaveLength(1);
        });
        waiting.abort(new Error("the client went away"));
        await expect(acquired).rejects.toThrow("the client went away");
        expect(await sessionFolders(sessionsDir)).toEqual([]);
        await expect
          .poll(() => familyOf(process.pid).filter(({ pid }) => !before.some((each) => each.pid === pid)))
          .toEqual([]);
      },
    );

    it("streams bodies both ways, and ends a request when its signal aborts", async () => {
      const { placement } = await openPlacement({ kind, standIn: "fine" });
      const instance = await placement.acquire(assign("s1"));
      const answer = await instance.request({ method: "POST", path: "/run" }, Readable.from(["echo ", "streamed"]));
      expect(JSON.parse(await text(answer))).toMatchObject({ stdout: "streamed\n" });
      const controller = new AbortController();
      const slow = instance.request({ method: "POST", path: "/run", signal: controller.signal }, "sleep 60");
      controller.abort(new Error("enough"));
      await expect(slow).rejects.toThrow("enough");
      const many = await Promise.all(Array.from({ length: 50 }, (_, index) => runInside(instance, `echo ${index}`)));
      expect(many.map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 50 }, (_, index) => index));
    });

    it("applies backpressure in both directions", async () => {
      const { placement } = await openPlacement({ kind, standIn: "fine" });
      const instance = await placement.acquire(assign("s1"));
      const answer = await instance.request({ method: "GET", path: "/endless" });
      const sent = async (): Promise<number> =>
        Number(await text(await instance.request({ method: "GET", path: "/sent" })));
      let before = -1;
      await eventuallyPasses(async () => {
        const now = await sent();
        const still = now === before;
        before = now;
        expect(still).toBe(true);
      });
      expect(before).toBeLessThan(32 * 2 ** 20);
      answer.destroy();

      let taken = 0;
      const chunk = Buffer.alloc(2 ** 20);
      const body = Readable.from(
        (function* () {
          for (;;) {
            taken += chunk.length;
            yield chunk;
          }
        })(),
        { highWaterMark: 1 },
      );
      const given = new AbortController();
      const unread = instance.request({ method: "POST", path: "/unread", signal: given.signal }, body);
      unread.catch(() => undefined);
      let seen = -1;
      await eventuallyPasses(() => {
        const still = taken === seen;
        seen = taken;
        expect(still).toBe(true);
      });
      expect(taken).toBeLessThan(32 * 2 ** 20);
      given.abort(new Error("enough"));
      await expect(unread).rejects.toThrow("enough");
      await eventuallyPasses(() => {
        expect(body.destroyed).toBe(true);
      });
    });

    it("ends all instances on close, and rejects later calls", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind, warm: 1, standIn: "fine" });
      await placement.warmReady();
      const instance = await placement.acquire(assign("s1"));
      await placement.warmReady();
      const cold = placement.acquire(assign("s2")).then((other) => placement.acquire(assign("s3")).then(() => other));
      cold.catch(() => undefined);
      const family = familyOf(process.pid).filter(({ parent }) => parent === process.pid);
      await placement.close();
      await expect(cold).rejects.toMatchObject({ code: "closed" });
      expect(await instance.ended).toEqual({ reason: "stopped" });
      expect(stillRunning(family.filter(({ pid }) => pid === instance.pid))).toEqual([]);
      expect(
        (await readdir(sessionsDir)).filter((name) => !/^(?:compiled|loader|program)-[0-9a-f]{16}$/.test(name)),
      ).toEqual([]);
      await expect(placement.acquire(assign("s4"))).rejects.toMatchObject({ code: "closed" });
      await expect(placement.warmReady()).rejects.toMatchObject({ code: "closed" });
    });
  });
}

describeWith(["chromium"], "createPlacement", () => {
  it("names an invalid option", async () => {
    await expect(openPlacement({ kind: "process", chromium: "/nonexistent/chrome" })).rejects.toMatchObject({
      code: "no_chromium",
      message: expect.stringContaining("/nonexistent/chrome") as unknown,
    });
    await expect(openPlacement({ kind: "process", allowPrivateHosts: ["http://x"] })).rejects.toMatchObject({
      code: "bad_option",
    });
    const file = join(await temporaryDirectory(), "file");
    await writeFile(file, "");
    await expect(openPlacement({ kind: "process", sessionsDir: file })).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringMatching(/^sessionsDir: cannot use .*\/file/) as unknown,
    });
  });

  it("warns that plain processes are not isolated", async () => {
    const { lines } = await openPlacement({ kind: "process", standIn: "fine" });
    expect(lines).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("without isolation") as unknown }),
    );
  });

  it.each(["refuses once", "breaks off once"] as const)(
    "uses the next instance when a warm one %s during its assignment",
    async (standIn) => {
      const { placement, sessionsDir } = await openPlacement({ kind: "process", standIn, warm: 2 });
      await placement.warmReady();
      const instance = await placement.acquire(assign("s1"));
      expect(await runInside(instance, "echo fine")).toMatchObject({ stdout: "fine\n" });
      await instance.stop();
      await placement.close();
      expect(await sessionFolders(sessionsDir)).toEqual([]);
    },
  );

  it("does not touch unknown files in its directory", async () => {
    const sessionsDir = await temporaryDirectory();
    await mkdir(join(sessionsDir, "photos"));
    await openPlacement({ kind: "process", sessionsDir, standIn: "fine" });
    expect(await readdir(sessionsDir)).toContain("photos");
  });
});

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
