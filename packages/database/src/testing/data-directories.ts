import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { scratchBase } from "./conditions.ts";
import { type Holder, type HolderReport, postgresIn } from "./processes.ts";

/** A folder for a file of tests, which others may enter, and its processes. */
export interface Scratch {
  /** Path of something in it. */
  path(...names: string[]): string;
  /** A holder that is closed after the test, whatever happens. */
  hold(holder: Holder): Holder;
}

/** Makes the folder before the tests of a file and removes it after them. */
export function useScratch(): Scratch {
  let directory: string;
  const holders: Holder[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(scratchBase(), "shoal-database-test-"));
    await chmod(directory, 0o755);
  });
  afterEach(async () => {
    await Promise.all(holders.splice(0).map((holder) => holder.close()));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });
  return {
    path: (...names) => join(directory, ...names),
    hold(holder) {
      holders.push(holder);
      return holder;
    },
  };
}

/** What a holder says that opened its database. */
export async function succeeded(holder: Holder): Promise<HolderReport & { ok: true }> {
  const report = await holder.report;
  if (!report.ok) throw new Error(`${report.code}: ${report.message}`);
  return report;
}

/** What a holder says that could not. */
export async function failed(holder: Holder): Promise<HolderReport & { ok: false }> {
  const report = await holder.report;
  if (report.ok) throw new Error("the database was opened");
  return report;
}

/** Nothing runs in a data directory any more, a moment after its owner was killed. */
export async function expectNoProcess(directory: string): Promise<void> {
  await vi.waitFor(
    () => {
      expect(postgresIn(directory)).toEqual([]);
    },
    { timeout: 30_000 },
  );
}

/** Nothing runs in a data directory, and only what a next start needs is left there. */
export async function expectQuiet(directory: string): Promise<void> {
  await expectNoProcess(directory);
  const names = await readdir(directory);
  expect(names.filter((name) => !name.startsWith("postgresql-")).sort()).toEqual(["lock", "pgdata"]);
  expect(existsSync(join(directory, "pgdata", "postmaster.pid"))).toBe(false);
}

/** Matches texts that contain one. */
export const holding = (text: string): unknown => expect.stringContaining(text);

/** Permissions of a file, in octal digits. */
export const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
