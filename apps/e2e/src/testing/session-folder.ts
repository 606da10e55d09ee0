import type { Shoal } from "@shoal/client";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Uses a marker file. Files in memory are visible through `/proc` while the session runs. */
export async function hostPathOf(
  test: { readonly shoal: Shoal; readonly dataDirs: readonly string[] },
  sessionId: string,
  directory: string,
): Promise<string> {
  const { fs } = test.shoal.browsers;
  const path = `${directory}/${randomUUID()}`;
  await fs.writeFile(sessionId, "here", { path });
  const folders = test.dataDirs.map((dataDir) => join(dataDir, "sessions"));
  const found = folders.map((folder) => findBelow(folder, path)).find(Boolean) ?? findThroughProcesses(path);
  await fs.deleteFile(sessionId, { path });
  if (found === undefined)
    throw new Error(`${directory} of session ${sessionId} was not found in ${folders.join(", ")}.`);
  return dirname(found);
}

/** The path through the root folder of the oldest process that sees it. */
function findThroughProcesses(path: string): string | undefined {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids
    .sort((a, b) => a - b)
    .map((pid) => `/proc/${String(pid)}/root${path}`)
    .find((candidate) => existsSync(candidate));
}

/** The path below `folder` that ends in `ending`. Skips unreadable folders, which sessions can make. */
function findBelow(folder: string, ending: string): string | undefined {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (path.endsWith(ending)) return path;
    const found = entry.isDirectory() ? findBelow(path, ending) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function serverFolders(dataDir: string): string[] {
  const sessions = join(dataDir, "sessions");
  return readdirSync(sessions)
    .filter((name) => name.startsWith("server-"))
    .map((name) => join(sessions, name));
}

/** Names of the folders of running and pre-started sessions. */
export function sessionFolders(dataDir: string): string[] {
  return serverFolders(dataDir).flatMap((folder) => readdirSync(folder).filter((name) => name !== "owner.json"));
}

/** Folders of the sessions' sockets: one per server. */
export function runtimeDirs(dataDir: string): string[] {
  return serverFolders(dataDir).flatMap((folder) => {
    const owner = join(folder, "owner.json");
    return existsSync(owner) ? [(JSON.parse(readFileSync(owner, "utf8")) as { runtime_dir: string }).runtime_dir] : [];
  });
}
