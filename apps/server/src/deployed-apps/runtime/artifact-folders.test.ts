import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { ArtifactFolders } from "./artifact-folders.ts";
import type { BoxTasks } from "./box-tasks.ts";

it("never leaves a part of a build under its name, so that a killed service cannot start it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-artifacts-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const names = Array.from({ length: 2000 }, (_, index) => `${String(index)}.js`);
  mkdirSync(join(folder, "build"));
  for (const name of names) writeFileSync(join(folder, "build", name), "");
  // Nothing is unpacked.
  const tasks = {} as BoxTasks;
  const folders = await ArtifactFolders.open({ folder, tasks, keepsArchives: false, maxBytes: 2 ** 30 });
  const sizes = new Set<number>();
  const removal = new AbortController();
  const removed = folders.remove("build").finally(() => {
    removal.abort();
  });
  while (!removal.signal.aborted) {
    sizes.add(filesIn(join(folder, "build")));
    await nextTurn();
  }
  await removed;
  await folders.close();
  expect([...sizes].filter((size) => size !== 0)).toEqual(sizes.has(2000) ? [2000] : []);
  expect(readdirSync(folder)).toEqual([]);
});

/** 0 without the folder. */
function filesIn(path: string): number {
  try {
    return readdirSync(path).length;
  } catch {
    return 0;
  }
}
