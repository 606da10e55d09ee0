import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BoxTasks } from "./box-tasks.ts";
import { BuildTools } from "./build-tools.ts";
import type { Registry } from "./registry.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-tools-"));
});
afterAll(() => rm(folder, { recursive: true }));

const archive = Buffer.from("archive");
const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
/** A registry that has each version. */
const tasks = {
  run: ({ files, task }: Parameters<BoxTasks["run"]>[0]) => {
    const { url } = task({ forward: [] } as never) as { readonly url: string };
    return files?.fetched?.(
      Readable.from([url.endsWith(".tgz") ? archive : Buffer.from(JSON.stringify({ dist: { integrity } }))]),
    );
  },
} as unknown as BoxTasks;
const registry = { binds: [], hosts: [], urlIn: () => "https://registry.example/" } as unknown as Registry;

it("keeps versions of pnpm that builds use, and deletes the one with the longest time without a build", async () => {
  const tools = new BuildTools({ folder, tasks, registry, door: { accept: () => undefined }, keepsArchives: true });
  const get = async (major: number) => {
    const tool = await tools.get("pnpm", `${String(major)}.0.0`, new AbortController().signal);
    await utimes(tool.files.from, major, major);
    return tool;
  };
  {
    using _used = await get(1);
    for (const major of [2, 3, 4, 5, 6, 7, 8, 9, 10]) (await get(major))[Symbol.dispose]();
    expect(await readdir(folder)).toHaveLength(9);
    expect(await readdir(folder)).toContain("pnpm-1.0.0.tgz");
    expect(await readdir(folder)).not.toContain("pnpm-2.0.0.tgz");
  }
  (await get(11))[Symbol.dispose]();
  expect(await readdir(folder)).not.toContain("pnpm-1.0.0.tgz");
});
