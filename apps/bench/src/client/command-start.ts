import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Figure, percentile } from "../measuring/figures.ts";

const shoal = join(dirname(createRequire(import.meta.url).resolve("@shoal/cli/package.json")), "dist", "shoal.js");
const profile = {
  id: "befzf24a8ak2a8mnfcz82efb",
  name: "shopping",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

async function wallMs(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  await once(child, "exit");
  const took = performance.now() - begun;
  if (child.exitCode !== 0) throw new Error(`node ${args.join(" ")} ended with ${String(child.exitCode)}.`);
  return took;
}

/** Measures the run time of the built command against an empty Node program, alternately; median of each. */
export async function measureCommandStart(rounds: number): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(profile));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { PATH = "" } = process.env;
  // A separate home without user settings, whose compile cache this run fills.
  const env = {
    PATH,
    HOME: home,
    SHOAL_CONFIG_DIR: home,
    SHOAL_API_KEY: "sk_bench_0123456789",
    SHOAL_BASE_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
  };
  const works = { nothing: ["-e", "0"], help: [shoal, "--help"], get: [shoal, "profiles", "get", "shopping"] } as const;
  const samples: Record<keyof typeof works, number[]> = { nothing: [], help: [], get: [] };
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const name of ["nothing", "help", "get"] as const) {
        const took = await wallMs(works[name], env);
        // The first round fills the caches.
        if (round > 0) samples[name].push(took);
      }
    }
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
  const peer = percentile(samples.nothing, 0.5);
  return [
    {
      name: "shoal --help",
      unit: "ms",
      ours: percentile(samples.help, 0.5),
      peer,
      peerName: "node -e 0",
      target: "<= 1.9",
    },
    {
      name: "shoal profiles get",
      unit: "ms",
      ours: percentile(samples.get, 0.5),
      peer,
      peerName: "node -e 0",
      target: "<= 3.5",
    },
  ];
}
