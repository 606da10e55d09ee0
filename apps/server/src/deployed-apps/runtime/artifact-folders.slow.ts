import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openRuntime, runnable, sourceOf } from "./testing/runtime.ts";

const signal = new AbortController().signal;
const sourcesOf = (name: string) =>
  sourceOf(
    {
      "package.json": JSON.stringify({ type: "module" }),
      "main.ts": `
        import { getCompileCacheDir } from "node:module";
        import { readdirSync } from "node:fs";
        const handler = () => readdirSync(getCompileCacheDir());
        globalThis[Symbol.for("shoal.apps.v1")] = new Map([["${name}", { name: "${name}", actions: new Map([["b", { handler }]]) }]]);
      `,
      "data.txt": "x".repeat(100_000),
    },
    "main.ts",
  );

it("removes unpacked builds above the limit of bytes, least recently used first, and never one in use", async () => {
  const { folder, on, runtime } = await openRuntime({ kind: "process", foldersBytes: 300_000 });
  const kept = (artifact: string) => existsSync(join(folder, "apps/artifacts", artifact));
  const built = [];
  for (const name of ["one", "two", "three"]) {
    const source = await sourcesOf(name);
    built.push({ source, ...(await runtime.build(source, on, signal)) });
  }
  const [one, two, three] = built;
  if (one === undefined || two === undefined || three === undefined) throw new Error("a build is missing");
  await expect.poll(() => kept(one.artifact)).toBe(false);
  const program = await runtime.start(runnable(one.source, one), on, signal);
  await expect.poll(() => [one, two, three].map(({ artifact }) => kept(artifact))).toEqual([true, false, true]);
  await (await runtime.start(runnable(two.source, two), on, signal)).stop();
  await expect.poll(() => [one, two, three].map(({ artifact }) => kept(artifact))).toEqual([true, true, false]);
  await (await runtime.start(runnable(three.source, three), on, signal)).stop();
  await expect.poll(() => [one, two, three].map(({ artifact }) => kept(artifact))).toEqual([true, false, true]);
  await program.stop();
});

it.each(["sandbox", "process"] as const)(
  "provides compiled code to later programs in the %s placement",
  async (kind) => {
    const { folder, on, runtime } = await openRuntime({ kind });
    const source = await sourcesOf("compiled");
    const built = await runtime.build(source, on, signal);
    const artifacts = join(folder, "apps/artifacts");
    const compiled = join(artifacts, built.artifact, `.shoal-compiled-${process.version}`);
    const names = readdirSync(compiled);
    expect(names.length).toBeGreaterThan(0);
    expect(readdirSync(artifacts)).toEqual([built.artifact]);
    const program = await runtime.start(runnable(source, built), on, signal);
    const { output = "", status_reason } = await program.invoke({
      invocation_id: "i1",
      app_name: "compiled",
      action_name: "b",
    });
    expect(JSON.parse(output), status_reason).toEqual(names);
    await program.stop();
  },
);
