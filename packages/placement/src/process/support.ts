import { runsAsRoot } from "../host/tools.ts";
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Returns whether Chromium can use its own sandbox; as root it cannot. */
export async function processSandboxWorks(executable: string): Promise<boolean> {
  if (process.platform !== "linux") return true;
  if (runsAsRoot()) return false;
  // Older kernels need this helper, owned by root and with the set-user-id bit.
  const helper = await stat(join(dirname(executable), "chrome-sandbox")).catch(() => undefined);
  if (helper?.uid === 0 && (helper.mode & 0o4000) !== 0) return true;
  return run("unshare", ["--user", "--map-root-user", "true"]).then(
    () => true,
    () => false,
  );
}
