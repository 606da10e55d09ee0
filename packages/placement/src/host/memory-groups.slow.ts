import { findMemoryGroups } from "./memory-groups.ts";
import { openPlacement, runInside } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const limit = 400 * 2 ** 20;
const groups = await findMemoryGroups(limit, silent);
const isRequired =
  process.env.SHOAL_REQUIRE_ALL === "1" &&
  process.getuid?.() === 0 &&
  existsSync("/proc/mounts") &&
  / cgroup rw,\S*\bmemory\b|\/sys\/fs\/cgroup cgroup2 rw/.test(readFileSync("/proc/mounts", "utf8"));
const isSkipped = groups === undefined && !isRequired;
const reason = isSkipped
  ? " (skipped: this process may make no control groups; root may, where /sys/fs/cgroup can be written)"
  : "";
const pathsOf = (name: string) => globSync(`/sys/fs/cgroup/**/${name}`);

describeWith(["linux", "chromium", "bubblewrap"], `the memory of a box${reason}`, () => {
  it.skipIf(isSkipped)("is limited: the kernel kills a process above the limit, and the others continue", async () => {
    const { placement, lines } = await openPlacement({ kind: "sandbox", standIn: "fine", sessionMemoryBytes: limit });
    const [one, two] = await Promise.all(
      ["s1", "s2"].map((session_id) => placement.acquire({ session_id, timeout_seconds: 3_600 })),
    );
    if (one === undefined || two === undefined) throw new Error("Expected two boxes.");
    const { stdout } = await runInside(one, "head -c 700000000 /dev/zero | tail >/dev/null; echo ended with $?");
    expect(stdout).toBe("ended with 137\n");
    expect((await runInside(two, "head -c 100000000 /dev/zero | tail | wc -c")).stdout.trim()).toBe("100000000");
    expect(pathsOf(`shoal-box-*-${one.id}`)).toHaveLength(1);
    await one.stop();
    expect(pathsOf(`shoal-box-*-${one.id}`)).toEqual([]);
    await two.stop();
    expect(lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  it.skipIf(isSkipped)("has the limit of the session, whether its warm box had the default limit or none", async () => {
    for (const usual of [limit, undefined]) {
      const { placement } = await openPlacement({
        kind: "sandbox",
        standIn: "fine",
        warm: 1,
        ...(usual !== undefined && { sessionMemoryBytes: usual }),
      });
      await placement.warmReady();
      expect(placement.memory.unlimitedBecause).toBeUndefined();
      expect(placement.memory.usualBytes).toBe(usual ?? placement.memory.machineBytes);
      const asked = 600 * 2 ** 20;
      const session = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 }, undefined, {
        memoryBytes: asked,
      });
      const [group = ""] = pathsOf(`shoal-box-*-${session.id}`);
      const limitFile =
        ["memory.limit_in_bytes", "memory.max"].map((name) => join(group, name)).find((path) => existsSync(path)) ?? "";
      expect(readFileSync(limitFile, "utf8").trim()).toBe(String(asked));
      // Above the default limit, below the session's; then above both.
      expect((await runInside(session, "head -c 450000000 /dev/zero | tail | wc -c")).stdout.trim()).toBe("450000000");
      expect(
        (await runInside(session, "head -c 1000000000 /dev/zero | tail >/dev/null; echo ended with $?")).stdout,
      ).toBe("ended with 137\n");
      await session.stop();
    }
  });

  it.skipIf(isSkipped)("can be lowered and raised while processes run", async () => {
    const group = await groups?.open("moved");
    const [path = ""] = pathsOf(`shoal-box-${String(process.pid)}-*-moved`);
    const limitFile =
      ["memory.limit_in_bytes", "memory.max"].map((name) => join(path, name)).find((file) => existsSync(file)) ?? "";
    for (const bytes of [2 * limit, limit / 2, limit]) {
      await group?.setLimit(bytes);
      expect(readFileSync(limitFile, "utf8").trim()).toBe(String(bytes));
    }
    await group?.remove();
  });

  it.skipIf(isSkipped)("is released after a server was killed", async () => {
    const left = await groups?.open("left");
    const [path = ""] = pathsOf(`shoal-box-${String(process.pid)}-*-left`);
    const dead = path.replace(/shoal-box-\d+-\d+-left$/, `shoal-box-${String(process.pid)}-1-dead`);
    mkdirSync(dead);
    await findMemoryGroups(limit, silent);
    expect([pathsOf("shoal-box-*-dead"), pathsOf("shoal-box-*-left")]).toEqual([[], [path]]);
    expect(readFileSync(`${path}/cgroup.procs`, "utf8")).toBe("");
    await left?.remove();
    expect(pathsOf("shoal-box-*-left")).toEqual([]);
  });
});

describeWith(["chromium"], "the memory of a plain process", () => {
  it("cannot be limited, and is not reported as limited", async () => {
    const { placement } = await openPlacement({ kind: "process", standIn: "fine", sessionMemoryBytes: limit });
    expect(placement.memory.usualBytes).toBe(placement.memory.machineBytes);
    expect(placement.memory.unlimitedBecause).toContain("plain processes");
    await expect(
      placement.acquire({ session_id: "s1", timeout_seconds: 3_600 }, undefined, { memoryBytes: limit }),
    ).rejects.toMatchObject({
      code: "bad_option",
    });
  });
});
