import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { misplaced, replay, serveWatches, treeOf, type Frame } from "./testing/served-watches.ts";

const sleep = new Int32Array(new SharedArrayBuffer(4));
const intervalMs = 2; // of the looks for files

interface Scene {
  readonly before: string;
  readonly programs: readonly string[];
  /** The service checks only when all programs have ended. */
  readonly late: boolean;
}

async function expectOrder({ before, programs, late }: Scene): Promise<readonly Frame[]> {
  await using served = await serveWatches();
  await mkdir(join(served.root, "w"));
  await served.node(`import * as fs from "node:fs"; ${before}`);
  const there = await treeOf(served.root, "/w");
  const id = await served.start("/w");
  const reader = await served.read(id);
  const running = Promise.all(
    programs.map((program, index) =>
      served.node(`import * as fs from "node:fs"; ${program}; fs.writeFileSync("done${index}", "");`),
    ),
  );
  // The test and the service share a thread.
  while (late && !programs.every((_, index) => existsSync(join(served.root, `done${index}`))))
    Atomics.wait(sleep, 0, 0, intervalMs);
  await running;
  await served.stop(id);
  const frames = await reader.toEnd();
  const now = await treeOf(served.root, "/w");
  expect(misplaced(there, frames, "/w")).toEqual([]);
  for (const knows of ["moves", "creations"] as const)
    expect([...replay(there, frames, knows)].sort(), knows).toEqual([...now].sort());
  expect(served.faults).toEqual([]);
  return frames;
}

it("reports both files when two files swap their names", async () => {
  const before = `fs.mkdirSync("w/a"); fs.mkdirSync("w/b"); fs.writeFileSync("w/a/u", "1"); fs.writeFileSync("w/b/u", "22");`;
  const swap = `fs.renameSync("w/a/u", "t"); fs.renameSync("w/b/u", "w/a/u"); fs.renameSync("t", "w/b/u");`;
  const frames = await expectOrder({ before, programs: [swap], late: true });
  expect(frames.map(({ event }) => `${event?.type ?? ""} ${event?.path ?? ""}`)).toContain("CREATE /w/a/u");
});

it("reports the content of a moved directory under its new path when another directory has its old path", async () => {
  const before = `fs.mkdirSync("w/b/z", { recursive: true }); fs.mkdirSync("w/p");`;
  // The kernel's first event is about z, whose directory has left w/b before the service checks.
  const moves = `fs.renameSync("w/b/z", "z"); fs.renameSync("w/b", "b"); fs.mkdirSync("w/b"); fs.renameSync("w/p", "w/b/z"); fs.renameSync("b", "w/p");`;
  await expectOrder({ before, programs: [moves], late: true });
});

function storm(seed: number): string {
  return `
    let seed = ${seed};
    const pick = (from) => from[Math.floor((seed = (seed * 1103515245 + 12345) % 2147483648) / 65536) % from.length];
    const file = () => "w/" + pick("abc") + "/" + pick("xyzu");
    const does = [
      () => fs.renameSync("w/" + pick("abc"), "w/" + pick("abc")),
      () => fs.renameSync(file(), file()),
      () => fs.appendFileSync(file(), "1"),
      () => fs.appendFileSync(file(), "1"),
      () => fs.mkdirSync("w/" + pick("abc")),
      () => fs.rmSync(file()),
      () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pick([0, 0, 0, 0, 3])),
    ];
    for (let step = 0; step < 1200; step++) try { pick(does)(); } catch {}`;
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "reports a storm of renames and writes in an order that can be replayed: seed %i",
  async (seed) => {
    const before = `for (const d of "ab") { fs.mkdirSync("w/" + d); for (const f of "xyz") fs.writeFileSync("w/" + d + "/" + f, "1"); }`;
    await expectOrder({
      before,
      programs: [storm(seed * 7919), storm(seed * 104729), storm(seed * 1299709)],
      late: false,
    });
  },
);
