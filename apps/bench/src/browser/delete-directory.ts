import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, percentile } from "../measuring/figures.ts";
import { hostPathOf } from "../measuring/session-files.ts";

const files = 30_000;

/** Makes a tree below `home`, owned by the box's user on the host. */
function fill(home: string): void {
  const { uid, gid } = statSync(home);
  const owned = (path: string) => {
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
  };
  mkdirSync(join(home, "tree"));
  owned(join(home, "tree"));
  for (let index = 0; index < files; index++) {
    const folder = join(home, "tree", String(index % 300));
    if (index < 300) {
      mkdirSync(folder);
      owned(folder);
    }
    const file = join(folder, `${String(index)}.txt`);
    writeFileSync(file, "content");
    owned(file);
  }
}

/** Against `rm -rf` of 30,000 files in the same place. */
export async function measureDeleteDirectory(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { session_id } = await shoal.browsers.create();
    const home = await hostPathOf(shoal, session_id, "/home/shoal", folder);
    const ours: number[] = [];
    const peer: number[] = [];
    for (let round = -1; round < rounds; round++) {
      fill(home);
      let began = performance.now();
      await shoal.browsers.fs.deleteDirectory(session_id, { path: "/home/shoal/tree" });
      const a = performance.now() - began;
      fill(home);
      began = performance.now();
      execFileSync("rm", ["-rf", join(home, "tree")]);
      if (round >= 0) {
        ours.push(a);
        peer.push(performance.now() - began);
      }
    }
    return [
      {
        name: "delete 30,000 files, p50",
        unit: "ms",
        ours: percentile(ours, 0.5),
        peer: percentile(peer, 0.5),
        peerName: "rm -rf",
        target: "<= 1.2",
      },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
