import { availableParallelism, homedir, totalmem } from "node:os";
import { join, resolve } from "node:path";

export const leastSessionDiskMb = 64;

/** The region of servers without the setting, and of rows older than regions. */
export const defaultRegion = "default";

/** Returns the data folder of this user, by the conventions of the operating system. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  // An empty variable counts as unset: join would return a folder of the working directory.
  const given = (path: string | undefined) => (path === "" ? undefined : path);
  const home = given(env.HOME) ?? homedir();
  if (process.platform === "win32") return join(given(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"), "shoal");
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "shoal");
  return resolve(given(env.XDG_DATA_HOME) ?? join(home, ".local", "share"), "shoal");
}

/** Session files are in memory: allow at most half of the machine's. */
export function defaultSessionDiskMb(): number {
  return Math.max(leastSessionDiskMb, Math.min(2048, Math.floor(machineMemoryBytes() / 2 / 2 ** 20)));
}

export function defaultWarmMax(): number {
  return Math.min(100, 8 * availableParallelism());
}

export function defaultMaxSessions(): number {
  return Math.min(500, Math.max(4, Math.floor(machineMemoryBytes() / (256 * 1024 * 1024))));
}

/** The container's limit, if it is lower. */
export function machineMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}
