import fc from "fast-check";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { misplaced, replay, serveWatches, treeOf, type Frame } from "./testing/served-watches.ts";

// Few names, so that they are often used, freed and used again.
const name = fc.constantFrom("a", "b", "c");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const place = fc.tuple(fc.constantFrom("w", "w", "w", "outside"), path).map((parts) => parts.join("/"));
const operation = fc.oneof(
  { weight: 3, arbitrary: place.map((at) => ["write", at] as const) },
  { weight: 3, arbitrary: place.map((at) => ["mkdir", at] as const) },
  { weight: 2, arbitrary: place.map((at) => ["remove", at] as const) },
  { weight: 4, arbitrary: fc.tuple(place, place).map(([from, to]) => ["move", from, to] as const) },
  { weight: 1, arbitrary: fc.tuple(place, place).map(([from, to]) => ["link", from, to] as const) },
  { weight: 1, arbitrary: fc.constant(["pause"] as const) },
);

/** Skips operations that fail, because a name exists or a directory is in the way. */
const writer = `
  import { linkSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
  const wait = new Int32Array(new SharedArrayBuffer(4));
  const does = {
    write: (at) => writeFileSync(at, String(Math.random())),
    mkdir: (at) => mkdirSync(at, { recursive: true }),
    remove: (at) => rmSync(at, { recursive: true }),
    move: (from, to) => renameSync(from, to),
    link: (from, to) => linkSync(from, to),
    // Two in turn, for the kernel merges an event with an equal one before it.
    flood: () => { for (let i = 0; i < 17000; i++) utimesSync("w/z" + (i % 2), i, i); },
    pause: () => Atomics.wait(wait, 0, 0, 3),
  };
  for (const [what, ...where] of OPERATIONS) try { does[what](...where); } catch {}
  writeFileSync("done", "");
`;

interface Setting {
  readonly recursive: boolean;
  readonly late: boolean;
  /** The kernel's event queue is full before the writers begin, so the kernel drops their events. */
  readonly dropped?: boolean;
  readonly runs: number;
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4));
const intervalMs = 2; // of the looks for files

async function run(
  before: readonly unknown[],
  during: readonly (readonly unknown[])[],
  { recursive, late, dropped = false }: Setting,
): Promise<void> {
  await using served = await serveWatches();
  for (const directory of ["w", "outside"]) await mkdir(join(served.root, directory));
  const files = [
    ["write", "w/z0"],
    ["write", "w/z1"],
  ];
  await served.node(writer.replace("OPERATIONS", JSON.stringify([...files, ...before])));
  const visible = async (): Promise<Map<string, boolean>> =>
    new Map([...(await treeOf(served.root, "/w"))].filter(([at]) => recursive || at.split("/").length === 3));
  const started = await visible();
  const id = await served.start("/w", recursive);
  const reader = await served.read(id);
  await rm(join(served.root, "done"));
  const written = Promise.all(
    during.map((operations, index) =>
      served.node(
        writer
          .replace("OPERATIONS", JSON.stringify(dropped ? [["flood"], ...operations] : operations))
          .replace("done", `done${index}`),
      ),
    ),
  );
  // The test and the service share a thread.
  while (late && !during.every((_, index) => existsSync(join(served.root, `done${index}`))))
    Atomics.wait(neverNotified, 0, 0, intervalMs);
  await written;
  await served.stop(id);
  const frames: Frame[] = await reader.toEnd();
  const now = [...(await visible())].sort();
  for (const knows of ["moves", "creations"] as const)
    expect([...replay(started, frames, knows)].sort(), knows).toEqual(now);
  expect(misplaced(started, frames, "/w")).toEqual([]);
  expect(frames.map((frame) => frame.id)).toEqual(frames.map((_, index) => index + 1));
  expect(served.faults).toEqual([]);
}

it.each<[string, Setting]>([
  ["recursive", { recursive: true, late: false, runs: 25 }],
  ["recursive, looking late", { recursive: true, late: true, runs: 25 }],
  ["recursive, with events dropped", { recursive: true, late: true, dropped: true, runs: 10 }],
  ["one level", { recursive: false, late: false, runs: 25 }],
  ["one level, looking late", { recursive: false, late: true, runs: 25 }],
])("a replay of the events results in the existing tree: %s", async (_, setting) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { maxLength: 30 }),
      fc.array(fc.array(operation, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 2 }),
      (before, during) => run(before, during, setting),
    ),
    { numRuns: setting.runs },
  );
});
