import { removeTree } from "../host/remove-tree.ts";
import { execFile } from "node:child_process";
import { access, chmod, mkdir, mkdtemp, readFile, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const script =
  "const { default: chromium } = await import(process.argv[1]); console.log(await chromium.executablePath());";

/** Extracts the npm package into `cache` once: about a second, 210 MB. `undefined` if it is not installed. */
export async function packagedChromium(cache = join(homedir(), ".cache", "shoal")): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  let entry: string;
  try {
    entry = import.meta.resolve("@sparticuz/chromium");
  } catch {
    return undefined;
  }
  const manifest: unknown = JSON.parse(await readFile(fileURLToPath(new URL("../package.json", entry)), "utf8"));
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "unknown";
  const folder = join(cache, `chromium-${version}`);
  const executable = join(folder, "chromium");
  if (await exists(executable)) return executable;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, "extracting-"));
  try {
    // The package extracts into the temporary directory and changes the environment, hence the separate process.
    await run(process.execPath, ["--input-type=module", "--eval", script, entry], {
      env: { PATH: "/usr/bin:/bin", HOME: fresh, TMPDIR: fresh },
    });
    await Promise.all([chmod(fresh, 0o755), chmod(join(fresh, "chromium"), 0o755)]);
    await rename(fresh, folder);
  } catch (error) {
    await removeTree(fresh);
    if (!(await exists(executable))) throw error;
  }
  return executable;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
