import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Figure } from "./figures.ts";

const run = promisify(execFile);

/** CPU and time of one `import()` in a Node of its own, milliseconds. */
async function importOf(specifier: string): Promise<{ cpuMs: number; wallMs: number }> {
  const script = `const cpu = process.cpuUsage(), begun = performance.now();
    await import(${JSON.stringify(specifier)});
    const wallMs = performance.now() - begun, { user, system } = process.cpuUsage(cpu);
    console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));`;
  // Without this process's conditions: what npm publishes is imported, not the sources.
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: import.meta.dirname });
  return JSON.parse(stdout) as { cpuMs: number; wallMs: number };
}

/** How long it takes to import the published client in Node. */
export async function measureClientStart(rounds: number): Promise<Figure[]> {
  const packages = ["@shoal/client", "@onkernel/sdk", "zod/mini"];
  const samples = new Map(packages.map((name) => [name, { cpuMs: [] as number[], wallMs: [] as number[] }]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, sample] of samples) {
      const { cpuMs, wallMs } = await importOf(name);
      // The first brings the files into memory.
      if (round === 0) continue;
      sample.cpuMs.push(cpuMs);
      sample.wallMs.push(wallMs);
    }
  }
  const median = (name: string, of: "cpuMs" | "wallMs") => samples.get(name)?.[of].toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
  return (["cpuMs", "wallMs"] as const).flatMap((of) =>
    ["@onkernel/sdk", "zod/mini"].map((peer) => ({
      name: `import of the client, ${of === "cpuMs" ? "CPU" : "time"}`,
      unit: "ms",
      ours: median("@shoal/client", of),
      peer: median(peer, of),
      peerName: peer,
      ...(peer === "@onkernel/sdk" && { target: "<= 2" }),
    })),
  );
}
