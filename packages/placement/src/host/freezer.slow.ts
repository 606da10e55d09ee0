import { groupNames, type GroupParent } from "./control-groups.ts";
import { type BoxFreezer, freezerParents, freezersIn, thawAbandoned } from "./freezer.ts";
import { findMemoryGroups, type MemoryGroup } from "./memory-groups.ts";
import { hasSwap } from "./page-out.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const memory = await findMemoryGroups(undefined, silent);

async function usable(parent: GroupParent): Promise<boolean> {
  return freezersIn(parent, false).then(
    () => true,
    () => false,
  );
}
const found: GroupParent[] = [];
for (const parent of await freezerParents())
  if (!found.some(({ isV2 }) => isV2 === parent.isV2) && (await usable(parent))) found.push(parent);

/** Each file grows while its processes run. New processes start all the time. */
async function startBusy(group: MemoryGroup): Promise<{ child: ChildProcess; size: () => number }> {
  const file = join(await temporaryDirectory(), "ticks");
  const script = `while true; do (sleep 0.01; echo tick >> ${file}); done & while true; do sleep 0.005; done`;
  const [program, ...rest] = group.command;
  const child = spawn(program, [...rest, "/bin/sh", "-c", script], { detached: true, stdio: "ignore" });
  const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  await expect.poll(size).toBeGreaterThan(0);
  return { child, size };
}

const processesIn = (path: string) => readFileSync(join(path, "cgroup.procs"), "utf8").split("\n").filter(Boolean);

async function stopsTicking(size: () => number): Promise<void> {
  await expect
    .poll(async () => {
      const before = size();
      const severalTicksMs = 300;
      await sleep(severalTicksMs);
      return size() - before;
    })
    .toBe(0);
}

for (const parent of found) {
  describe.skipIf(memory === undefined)(`the freezer of control groups ${parent.isV2 ? "v2" : "v1"}`, () => {
    async function openBusy(id: string) {
      const group = await memory?.open(id);
      if (group === undefined) throw new Error("Expected a group.");
      const { child, size } = await startBusy(group);
      const freezer: BoxFreezer = (await freezersIn(parent, false)).of(id, group);
      const path = join(parent.path, groupNames()(id));
      const end = async () => {
        for (const pid of processesIn(group.path)) process.kill(Number(pid), "SIGKILL");
        freezer.thaw();
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        await expect.poll(() => processesIn(group.path)).toEqual([]);
        await Promise.all([freezer.remove(), group.remove()]);
      };
      return { freezer, size, path, end, group };
    }

    it("stops and continues processes that start others all the time, and ends them while they are frozen", async () => {
      const { end, freezer, size } = await openBusy("busy");
      onTestFinished(() => undefined);
      for (let cycle = 0; cycle < 5; cycle++) {
        await freezer.prepare();
        freezer.freeze();
        await stopsTicking(size);
        const frozen = size();
        freezer.thaw();
        await expect.poll(size).toBeGreaterThan(frozen);
      }
      freezer.freeze();
      await stopsTicking(size);
      await end();
      // A removed group can be continued again and again.
      freezer.thaw();
    });

    it("continues the processes of a killed server, so that they receive their signals", async () => {
      const { end, freezer, group, path, size } = await openBusy("lost");
      await freezer.prepare();
      freezer.freeze();
      await stopsTicking(size);
      // The same group under the name of a dead server: groups cannot be renamed in v2.
      const dead = join(
        dirname(path),
        basename(path).replace(/shoal-box-\d+-\d+/, `shoal-box-${String(process.pid)}-1`),
      );
      mkdirSync(dead);
      freezer.thaw();
      for (const pid of processesIn(path)) {
        try {
          writeFileSync(join(dead, "cgroup.procs"), pid);
        } catch {
          // It has just ended.
        }
      }
      writeFileSync(join(dead, parent.isV2 ? "cgroup.freeze" : "freezer.state"), parent.isV2 ? "1" : "FROZEN");
      for (const pid of processesIn(group.path)) process.kill(Number(pid), "SIGKILL");
      await thawAbandoned();
      await expect.poll(() => processesIn(dead)).toEqual([]);
      rmdirSync(dead);
      await end();
    });
  });
}

it.skipIf(memory === undefined || !(await hasSwap()))("moves the memory of a frozen box to swap", async () => {
  const group = await memory?.open("paged");
  const [parent] = found;
  if (group === undefined || parent === undefined) throw new Error("Expected control groups.");
  const [program, ...rest] = group.command;
  const script =
    "const kept = Buffer.alloc(64 * 2 ** 20, 7); for (let at = 0; at < kept.length; at += 64) kept.writeDoubleLE(Math.random(), at); console.log(1); setInterval(() => kept.length, 1e6)";
  const child = spawn(program, [...rest, process.execPath, "-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const freezer = (await freezersIn(parent, true)).of("paged", group);
  await freezer.prepare();
  freezer.freeze();
  const usage = () =>
    Number(readFileSync(join(group.path, group.isV2 ? "memory.current" : "memory.usage_in_bytes"), "utf8"));
  const limit = () => readFileSync(join(group.path, group.isV2 ? "memory.swap.max" : "memory.limit_in_bytes"), "utf8");
  const [usageBefore, limitBefore] = [usage(), limit()];
  await freezer.pageOut(() => true);
  expect(usage()).toBeLessThan(usageBefore / 2);
  expect(limit()).toBe(limitBefore);
  freezer.thaw();
  child.kill("SIGKILL");
  await once(child, "exit");
  await Promise.all([freezer.remove(), group.remove()]);
});
