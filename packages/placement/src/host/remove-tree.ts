import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Also removes subfolders without permissions and paths above the length limit. Ignores a missing folder. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (process.platform === "win32") throw error;
    // These programs change directory step by step, so path length does not matter, and do not follow links.
    await run("chmod", ["-R", "u+rwX", path]).catch(() => undefined);
    await run("rm", ["-rf", path]);
  }
}
