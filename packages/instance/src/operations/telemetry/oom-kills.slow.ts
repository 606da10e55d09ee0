import { eventuallyPasses } from "@shoal/testkit";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { processesWith } from "../../testing/processes.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";
import { watchOomKills } from "./oom-kills.ts";
import { TelemetryRecorder } from "./recorder.ts";
import { followTelemetry } from "./testing/follow.ts";

describe("watching for out-of-memory kills", () => {
  const proc = mkdtempSync(join(tmpdir(), "shoal-proc-"));
  const intervalMs = 10;
  beforeEach(() => {
    mkdirSync(proc, { recursive: true });
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    rmSync(proc, { recursive: true, force: true });
  });

  const look = (times = 1) => {
    vi.advanceTimersByTime(times * intervalMs);
  };
  const end = (pid: number) => {
    rmSync(join(proc, String(pid)), { recursive: true });
  };

  const stat = (
    pid: number,
    { parent, name, rssPages, start = 100 }: { parent: number; name: string; rssPages: number; start?: number },
  ) => {
    mkdirSync(join(proc, String(pid)), { recursive: true });
    writeFileSync(
      join(proc, String(pid), "stat"),
      `${String(pid)} (${name}) S ${String(parent)} 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 ${String(start)} 1000000 ${String(rssPages)} 0\n`,
    );
  };
  const kills = (count: number) => {
    writeFileSync(join(proc, "vmstat"), `nr_free_pages 1\noom_kill ${String(count)}\n`);
  };

  it("reports the largest process of the session that ended, and no other process", async () => {
    const recorder = new TelemetryRecorder();
    recorder.select(new Set(["system"]));
    writeFileSync(join(proc, "meminfo"), "MemTotal:       4000000 kB\nMemFree:          20000 kB\n");
    kills(7);
    stat(10, { parent: 1, name: "node", rssPages: 20_000 });
    stat(11, { parent: 10, name: "chrome) (odd", rssPages: 50_000 });
    stat(12, { parent: 11, name: "renderer", rssPages: 400_000 });
    stat(13, { parent: 11, name: "small one", rssPages: 100 });
    stat(20, { parent: 1, name: "somebody else's", rssPages: 900_000 });
    const stop = watchOomKills(recorder, { proc, root: 10, intervalMs });
    const told = recorder.read(0, (_seq, event) => JSON.parse(event) as { type: string; data: object });
    end(13);
    end(20);
    stat(12, { parent: 11, name: "renderer", rssPages: 500_000 });
    look();
    expect(recorder.lastSeq).toBe(0);

    // The kernel counts a kill before it frees the memory. Then another process gets the same id.
    kills(8);
    look();
    expect(recorder.lastSeq).toBe(0);
    stat(12, { parent: 11, name: "renderer", rssPages: 10, start: 200 });
    look();
    const { value } = await told.next();
    expect(value).toMatchObject({
      data: {
        type: "system_oom_kill",
        data: {
          pid: 12,
          process_name: "renderer",
          rss_kb: 2_000_000,
          mem_total_kb: 4_000_000,
          mem_free_kb: 20_000,
          top_tasks: [{ pid: 12 }, { pid: 11, name: "chrome) (odd", rss_kb: 200_000 }],
        },
      },
    });
    stop?.();
    expect(recorder.lastSeq).toBe(1);
  });

  it("reports processes that appear after many looks, also with the id of a process that was not of the session", async () => {
    const recorder = new TelemetryRecorder();
    recorder.select(new Set(["system"]));
    kills(0);
    stat(10, { parent: 1, name: "node", rssPages: 20_000 });
    stat(20, { parent: 1, name: "somebody else's", rssPages: 900_000 });
    const stop = watchOomKills(recorder, { proc, root: 10, intervalMs });
    const told = recorder.read(0, (_seq, event) => (JSON.parse(event) as { data: object }).data);

    look(50);
    stat(30, { parent: 10, name: "late", rssPages: 100_000 });
    stat(31, { parent: 30, name: "later", rssPages: 200_000 });
    look();
    end(31);
    kills(1);
    look();
    expect(recorder.lastSeq).toBe(1);
    expect((await told.next()).value).toMatchObject({ data: { pid: 31, process_name: "later" } });

    stat(20, { parent: 30, name: "same id", rssPages: 300_000, start: 200 });
    look(50);
    end(20);
    kills(2);
    look();
    expect(recorder.lastSeq).toBe(2);
    expect((await told.next()).value).toMatchObject({ data: { pid: 20, process_name: "same id" } });
    stop?.();
  });

  it("is off when the kernel does not count kills", () => {
    writeFileSync(join(proc, "vmstat"), "nr_free_pages 1\n");
    expect(watchOomKills(new TelemetryRecorder(), { proc, root: 10, intervalMs })).toBeUndefined();
  });
});

function limitMemory(bytes: number): { readonly add: (pid: number) => void; readonly remove: () => void } | undefined {
  for (const [parent, file] of [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
    ["/sys/fs/cgroup", "memory.max"],
  ] as const) {
    const group = join(parent, `shoal-test-${String(process.pid)}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    if (!existsSync(join(group, file))) {
      rmdirSync(group);
      continue;
    }
    writeFileSync(join(group, file), String(bytes));
    return {
      add(pid) {
        try {
          writeFileSync(join(group, "cgroup.procs"), String(pid));
        } catch (error) {
          // It has ended.
          if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
        }
      },
      remove() {
        rmdirSync(group);
      },
    };
  }
  return undefined;
}

const group = process.platform === "linux" ? limitMemory(600 * 2 ** 20) : undefined;
group?.remove();

// CI requires this test where root can write control groups.
const isRequired =
  process.env.SHOAL_REQUIRE_ALL === "1" &&
  process.getuid?.() === 0 &&
  existsSync("/proc/mounts") &&
  / cgroup rw,\S*\bmemory\b|\/sys\/fs\/cgroup cgroup2 rw/.test(readFileSync("/proc/mounts", "utf8"));
const isSkipped = group === undefined && !isRequired;

describeChromium(
  `a session that runs out of memory${isSkipped ? " (skipped, needs a memory cgroup that can be written: root, where /sys/fs/cgroup is writable)" : ""}`,
  (chromium) => {
    it.skipIf(isSkipped)("reports which process the kernel killed, and continues", async () => {
      const limited = limitMemory(600 * 2 ** 20);
      try {
        await using instance = await runInstance({ chromium });
        await instance.assign({ telemetry: ["system"] });
        const told = followTelemetry(instance);
        const cdp = cdpClient(await instance.connect());
        const { result } = (await cdp.send("Target.createTarget", { url: "about:blank" })) as {
          result: { targetId: string };
        };
        const { result: attached } = (await cdp.send("Target.attachToTarget", {
          targetId: result.targetId,
          flatten: true,
        })) as {
          result: { sessionId: string };
        };
        await cdp.send("Runtime.enable", {}, attached.sessionId);
        for (const pid of [
          instance.process.pid ?? 0,
          ...processesWith(instance.config.session_dir),
          ...childrenOf(instance.process.pid ?? 0),
        ])
          limited?.add(pid);
        void cdp.send(
          "Runtime.evaluate",
          { expression: "globalThis.kept = []; setInterval(() => kept.push(new Uint8Array(16 << 20).fill(1)), 100)" },
          attached.sessionId,
        );
        const event = await told.wait("system_oom_kill");
        expect(Number(event.data?.rss_kb)).toBeGreaterThan(50_000);
        expect(event.data).toMatchObject({
          pid: expect.any(Number) as number,
          process_name: expect.stringMatching(/./) as string,
        });
        expect((await cdp.send("Browser.getVersion")).result).toBeDefined();
        expect((await instance.call("GET", "/fs/list_files?path=/")).status).toBe(200);
      } finally {
        await eventuallyPasses(() => limited?.remove());
      }
    });
  },
);

function childrenOf(pid: number): number[] {
  const parents = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [
        {
          pid: Number(name),
          parent: Number(
            readFileSync(`/proc/${name}/stat`, "utf8")
              .replace(/^.*\) . /s, "")
              .split(" ")[0],
          ),
        },
      ];
    } catch {
      return [];
    }
  });
  const below = (parent: number): number[] =>
    parents.filter((entry) => entry.parent === parent).flatMap((entry) => [entry.pid, ...below(entry.pid)]);
  return below(pid);
}
