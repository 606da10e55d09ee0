import { mkdir, realpath, rm } from "node:fs/promises";
import type { DatabaseLog } from "../log.ts";
import { findBinaries } from "./binaries.ts";
import { clusterIn } from "./cluster.ts";
import { lockDirectory } from "./directory-lock.ts";
import { stopOrphan } from "./orphan.ts";

/**
 * Removes an embedded database. Ends the PostgreSQL that a killed process left behind, which would write files again.
 * @throws {DatabaseError} `data_dir_locked`.
 */
export async function removeEmbedded(dataDir: string, log: DatabaseLog): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const directory = await realpath(dataDir);
  const lock = await lockDirectory(directory);
  try {
    const { pgCtl } = await findBinaries(process.platform, process.arch);
    await stopOrphan(clusterIn(directory), pgCtl, log);
    const socketDirectory = lock.previous?.socket_dir;
    if (socketDirectory !== undefined) await rm(socketDirectory, { recursive: true, force: true });
  } finally {
    lock.release();
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
