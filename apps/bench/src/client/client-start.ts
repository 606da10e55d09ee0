import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Figure } from "../measuring/figures.ts";
import { type Cost, pairedRatio, summaryOf } from "../measuring/rounds.ts";

const run = promisify(execFile);

/** Cost of one `import()` in a new Node process. */
async function importOf(specifier: string): Promise<Cost> {
  const script = `const cpu = process.cpuUsage(), startedAt = performance.now();
    await import(${JSON.stringify(specifier)});
    const wallMs = performance.now() - startedAt, { user, system } = process.cpuUsage(cpu);
    console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));`;
  // Without this process's conditions, so that Node imports the published files and not the sources.
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: import.meta.dirname });
  return JSON.parse(stdout) as Cost;
}

export async function measureClientStart(rounds: number): Promise<Figure[]> {
  const ours: Cost[] = [];
  const peers: Record<string, Cost[]> = { "@onkernel/sdk": [], "zod/mini": [] };
  for (let round = 0; round <= rounds; round++) {
    const samples = [["@shoal/client", ours] as const, ...Object.entries(peers)];
    for (const [name, sample] of round % 2 === 0 ? samples : samples.toReversed()) {
      const cost = await importOf(name);
      // The first round reads the files from disk.
      if (round > 0) sample.push(cost);
    }
  }
  const client = summaryOf(ours);
  return (["cpuMs", "wallMs"] as const).flatMap((of) =>
    Object.entries(peers).map(([peerName, sample]) => {
      const peer = summaryOf(sample);
      return {
        name: `import of the client, ${of === "cpuMs" ? "CPU" : "time"}`,
        unit: "ms",
        ours: client[of],
        peer: peer[of],
        peerName,
        ratio: pairedRatio(client, peer, of),
        ...(peerName === "@onkernel/sdk" && of === "cpuMs" && { target: "<= 1" }),
      };
    }),
  );
}
