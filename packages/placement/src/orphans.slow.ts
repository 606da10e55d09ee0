import { eventuallyPasses } from "@shoal/testkit";
import { examineHost } from "./examine-host.ts";
import type { Instance, PlacementKind } from "./interface/placement.ts";
import { openPlacement, sessionFolders, temporaryDirectory } from "./testing/placements.ts";
import { familyOf, type Known, stillRunning } from "./testing/processes.ts";
import { describeWith } from "./testing/requirements.ts";
import { startServer } from "./testing/servers.ts";
import { identityOf, processNamespace } from "./host/process-table.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import type { Writable } from "node:stream";
import { expect, it } from "vitest";

const kinds: readonly PlacementKind[] = ["sandbox", "process"];
const isBrowser = ({ name }: Known): boolean => name.startsWith("chrom") || name.startsWith("headless");
const allGone = (family: readonly Known[]) =>
  eventuallyPasses(() => {
    expect(stillRunning(family)).toEqual([]);
  });

for (const kind of kinds) {
  describeWith(
    ["linux", "chromium", ...(kind === "sandbox" ? (["bubblewrap"] as const) : [])],
    `after kill -9, a ${kind} placement`,
    () => {
      it("ends the processes of a killed server, and the next server removes its files", async () => {
        const sessionsDir = await temporaryDirectory();
        const { child, served } = await startServer({ kind, sessionsDir, warm: 1 });
        const family = familyOf(served.pid);
        expect(family.filter(isBrowser).length).toBeGreaterThan(4);
        const server = (await readdir(sessionsDir)).find((name) => name.startsWith("server-")) ?? "";
        const owner = JSON.parse(readFileSync(join(sessionsDir, server, "owner.json"), "utf8")) as {
          runtime_dir: string;
        };
        expect(await sessionFolders(sessionsDir)).toHaveLength(2);
        expect(existsSync(owner.runtime_dir)).toBe(true);

        child.kill("SIGKILL");
        await once(child, "exit");
        await allGone(family);

        const { lines } = await openPlacement({ kind, sessionsDir });
        expect(lines).toContainEqual(expect.objectContaining({ message: "Removed the leftovers of a killed server." }));
        expect(await sessionFolders(sessionsDir)).toEqual([]);
        expect(existsSync(join(sessionsDir, server))).toBe(false);
        expect(existsSync(owner.runtime_dir)).toBe(false);
      });

      it("keeps the files of another running server in the same directory", async () => {
        const sessionsDir = await temporaryDirectory();
        const { served } = await startServer({ kind, sessionsDir, warm: 0 });
        // Without the browser's helpers, which start and end at any time.
        const family = familyOf(served.instance.pid).filter(
          (each, _index, all) => !all.some((other) => other.pid === each.parent && isBrowser(other)),
        );
        expect(family.some(isBrowser)).toBe(true);
        await openPlacement({ kind, sessionsDir });
        expect(await sessionFolders(sessionsDir)).toEqual([served.instance.id]);
        expect(stillRunning(family)).toEqual(family);
      });

      const victims: readonly [string, (instance: Instance) => number | undefined][] = [
        ["the process that the placement knows", ({ pid }) => pid],
        [
          "the instance program",
          ({ pid }) => familyOf(pid).find(({ name }) => name === "node" || name === "MainThread")?.pid,
        ],
      ];
      it.each(victims)("ends the session when %s is killed, and removes its files", async (_name, victimOf) => {
        const { placement, sessionsDir } = await openPlacement({ kind });
        const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
        const family = familyOf(instance.pid);
        expect(family.some(isBrowser)).toBe(true);
        process.kill(victimOf(instance) ?? expect.unreachable("The process was not found."), "SIGKILL");
        expect(await instance.ended).toMatchObject({
          reason: "instance_lost",
          detail: expect.stringMatching(/The instance ended with (signal SIGKILL|exit code 137)/) as unknown,
        });
        expect(stillRunning(family)).toEqual([]);
        expect(await sessionFolders(sessionsDir)).toEqual([]);
      });

      it("survives one crash of its browser, and ends with the reason after the second", async () => {
        const { placement, sessionsDir } = await openPlacement({ kind });
        const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
        const events: string[] = [];
        instance.onEvent(({ type }) => events.push(type));
        const family = [...familyOf(instance.pid)];
        const browser = (): number =>
          familyOf(instance.pid).find(isBrowser)?.pid ?? expect.unreachable("The browser was not found.");
        process.kill(browser(), "SIGKILL");
        await eventuallyPasses(() => {
          expect(events).toEqual(expect.arrayContaining(["browser_restarted", "ready"]));
        });
        family.push(...familyOf(instance.pid));
        process.kill(browser(), "SIGKILL");
        expect(await instance.ended).toMatchObject({ reason: "browser_crashed" });
        expect(stillRunning(family)).toEqual([]);
        expect(await sessionFolders(sessionsDir)).toEqual([]);
      });
    },
  );
}

const host = await examineHost();
const isSleepy = host.findings.some(({ name, detail }) => name === "sleep" && detail.startsWith("Idle sessions can"));

describeWith(["linux", "chromium", "bubblewrap", "root"], "after kill -9, a sandbox placement", () => {
  it.skipIf(!isSleepy)("leaves no frozen process after the next server has started", async () => {
    const sessionsDir = await temporaryDirectory();
    const { child, served } = await startServer({ kind: "sandbox", sessionsDir, warm: 0, sleeps: true });
    const family = familyOf(served.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    await openPlacement({ kind: "sandbox", sessionsDir });
    await allGone(family);
    expect(await sessionFolders(sessionsDir)).toEqual([]);
    await expect.poll(() => globSync(`/sys/fs/cgroup/**/shoal-box-${String(served.pid)}-*`)).toEqual([]);
  });
});

describeWith(["linux", "chromium"], "a process placement", () => {
  it("ends processes that a session started with setsid", async () => {
    const { placement } = await openPlacement({ kind: "process", standIn: "fine" });
    const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
    await instance
      .request(
        { method: "POST", path: "/run" },
        "setsid sleep 60 >/dev/null 2>&1 & setsid setsid sleep 61 >/dev/null 2>&1 &",
      )
      .then((answer) => answer.resume());
    const started = await eventuallyPasses(() => {
      const found = familyOf(1).filter(
        ({ name, pid }) => name === "sleep" && readFileSync(`/proc/${pid}/environ`, "utf8").includes(instance.id),
      );
      expect(found).toHaveLength(2);
      return found;
    });
    await instance.stop();
    expect(stillRunning(started)).toEqual([]);
  });
});

describeWith(["linux", "bubblewrap"], "a sandbox placement", () => {
  it("ends a bubblewrap process of a killed server, and no other", async () => {
    const sessionsDir = await temporaryDirectory();
    const ids = { living: "aaaaaaaaaaaa", dead: "bbbbbbbbbbbb" };
    const [living, dead] = [join(sessionsDir, "server-living", ids.living), join(sessionsDir, "server-dead", ids.dead)];
    for (const session of [living, dead]) mkdirSync(join(session, "root"), { recursive: true });
    const { served } = await startServer({ kind: "sandbox", sessionsDir: await temporaryDirectory(), warm: 0 });
    const owner = {
      pid: served.pid,
      start_ticks: identityOf(served.pid).startTicks,
      host: hostname(),
      ...(await processNamespace()),
      runtime_dir: "",
    };
    writeFileSync(join(living, "..", "owner.json"), JSON.stringify(owner));
    writeFileSync(join(dead, "..", "owner.json"), JSON.stringify({ ...owner, start_ticks: 1 }));
    // Without --die-with-parent, as if the server was killed before bubblewrap requested it.
    const left = [living, dead].map((session) => {
      const child = spawn("bwrap", ["--args", "3", "--", "/bin/sh", "-c", "sleep 600; :", basename(session)], {
        detached: true,
        stdio: ["ignore", "ignore", "ignore", "pipe"],
      });
      const system = ["/usr", "/bin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind-try", path, path]);
      const options = ["--unshare-pid", "--bind", join(session, "root"), "/", ...system];
      (child.stdio[3] as Writable).end(options.map((option) => `${option}\0`).join(""));
      return child;
    });
    const ended = new Map(left.map((child) => [child, once(child, "exit")]));
    try {
      await eventuallyPasses(() => {
        for (const { pid } of left) expect(familyOf(pid ?? 0).map(({ name }) => name)).toContain("sleep");
      });
      const family = familyOf(left[1]?.pid ?? 0);
      await openPlacement({ kind: "sandbox", sessionsDir });
      await allGone(family);
      await eventuallyPasses(() => {
        expect(left[1]?.signalCode).not.toBeNull();
      });
      expect(existsSync(join(dead, ".."))).toBe(false);
      expect(left.map(({ signalCode }) => signalCode)).toEqual([null, "SIGKILL"]);
      expect(existsSync(living)).toBe(true);
    } finally {
      for (const child of left)
        if (child.signalCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await Promise.all(ended.values());
    }
  });
});
