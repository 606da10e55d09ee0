import { runsAsRoot } from "./sandbox-support.ts";
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Whether a Chromium that is started as a plain process can use its own sandbox. Root never can. */
export async function processSandboxWorks(executable: string): Promise<boolean> {
  if (process.platform !== "linux") return true;
  if (runsAsRoot()) return false;
  // The helper that older kernels need: owned by root, with the set-user-id bit.
  const helper = await stat(join(dirname(executable), "chrome-sandbox")).catch(() => undefined);
  if (helper?.uid === 0 && (helper.mode & 0o4000) !== 0) return true;
  return run("unshare", ["--user", "--map-root-user", "true"]).then(
    () => true,
    () => false,
  );
}
