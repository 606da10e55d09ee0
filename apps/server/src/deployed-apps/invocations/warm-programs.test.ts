import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { ScriptedApps } from "../../testing/scripted-apps.ts";
import { WarmPrograms } from "./warm-programs.ts";

const running = new Set(["first", "second", "third"]);
const free = { freeBytes: 100, idleMs: 60_000, max: 4 };

/** Each program uses 40 of `totalBytes`. @param lines - of each import. */
function openPrograms(totalBytes: number, lines = 0) {
  const apps = new ScriptedApps({});
  const memory = { totalBytes, asked: 0 };
  const programs = new WarmPrograms({
    runtime: {
      start(app, output, signal) {
        for (let line = 0; line < lines; line += 1) output.line({ source: "stdout", text: "line", at: new Date() });
        return apps.start(app, output, signal);
      },
    },
    apps: {
      isRunning: (id) => Promise.resolve(running.has(id)),
      runnable: (id) =>
        Promise.resolve({
          ...{ deployment_id: id, project: "p", artifact: id, language: "node" as const, entrypoint: "a.js", env: {} },
        }),
    },
    keys: { secretOf: () => Promise.resolve("sk_app") },
    rules: free,
    log: pino({ level: "silent" }),
    availableBytes: () => {
      memory.asked += 1;
      return memory.totalBytes - apps.alive.size * 40;
    },
  });
  onTestFinished(() => programs.close());
  return { apps, memory, programs };
}

it("ends waiting programs, least recently used first, until enough memory is available", async () => {
  const { apps, memory, programs } = openPrograms(400);
  for (const id of ["first", "second", "third"]) {
    programs.refill(id);
    await expect.poll(() => programs.deployments()).toContain(id);
  }
  expect(await programs.freeMemory()).toBe(true);
  expect(apps.alive.size).toBe(3);
  memory.totalBytes = 150;
  expect(await programs.freeMemory()).toBe(true);
  expect(programs.deployments()).toEqual(["third"]);
  expect(apps.alive.size).toBe(1);
});

it("prepares no program while too little memory is available, and starts those of invocations", async () => {
  const { apps, memory, programs } = openPrograms(99);
  programs.refill("first");
  await expect.poll(() => memory.asked).toBeGreaterThan(0);
  expect([apps.started, programs.deployments()]).toEqual([0, []]);
  const program = await programs.take("first", { line: () => undefined }, new AbortController().signal);
  expect(apps.alive.size).toBe(1);
  await program.stop();
});

it("prepares programs of running deployments only", async () => {
  const { programs } = openPrograms(400);
  programs.refill("stopped");
  programs.refill("first");
  await expect.poll(() => programs.deployments()).toEqual(["first"]);
});

it("says how many lines of an import were dropped", async () => {
  const { programs } = openPrograms(400, 1500);
  programs.refill("first");
  await expect.poll(() => programs.deployments()).toEqual(["first"]);
  const lines: string[] = [];
  const output = { line: ({ text }: { readonly text: string }) => void lines.push(text) };
  const program = await programs.take("first", output, new AbortController().signal);
  expect(lines).toHaveLength(1001);
  expect(lines.at(-1)).toMatch(/^\[shoal\] 501 lines were dropped: .* 1000 lines and 256 KiB\.$/);
  await program.stop();
});
