import { eventuallyPasses } from "@shoal/testkit";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { scratchBase } from "./conditions.ts";
import { type Holder, type HolderReport, postgresIn } from "./processes.ts";

export interface Scratch {
  path(...names: string[]): string;
  hold(holder: Holder): Holder;
}

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

export async function succeeded(holder: Holder): Promise<HolderReport & { ok: true }> {
  const report = await holder.report;
  if (!report.ok) throw new Error(`${report.code}: ${report.message}`);
  return report;
}

export async function failed(holder: Holder): Promise<HolderReport & { ok: false }> {
  const report = await holder.report;
  if (report.ok) throw new Error("the database was opened");
  return report;
}

export async function expectNoProcess(directory: string): Promise<void> {
  await eventuallyPasses(() => {
    expect(postgresIn(directory)).toEqual([]);
  });
}

export async function expectQuiet(directory: string): Promise<void> {
  await expectNoProcess(directory);
  const names = await readdir(directory);
  expect(names.filter((name) => !name.startsWith("postgresql-")).sort()).toEqual(["lock", "pgdata"]);
  expect(existsSync(join(directory, "pgdata", "postmaster.pid"))).toBe(false);
}

export const holding = (text: string): unknown => expect.stringContaining(text);

export const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
