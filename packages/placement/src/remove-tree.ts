import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Removes a folder with all in it: also folders that a session made unreadable to their owner, and paths too long to be named. A missing one is fine. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (process.platform === "win32") throw error;
    // These walk from folder to folder, so no path is too long for them, and follow no symbolic link on the way.
    await run("chmod", ["-R", "u+rwX", path]).catch(() => undefined);
    await run("rm", ["-rf", path]);
  }
}
