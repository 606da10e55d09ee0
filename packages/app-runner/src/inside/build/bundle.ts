import { bundleName } from "../../protocol/bundle-name.ts";
import type { BuildTask, BundleTask } from "../../protocol/messages.ts";
import { refuseOutsideInputs, withoutOutsideFiles } from "./outside.ts";
import { runTool } from "./run-tool.ts";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";

/** Packages stay outside: the SDK's registry must be found when it is loaded. @throws {BuildFailure} */
export async function bundle(task: BuildTask | BundleTask): Promise<void> {
  if (task.type === "bundle") {
    await runEsbuild(task, task.metafile);
    return;
  }
  const scratch = await mkdtemp(join(tmpdir(), "shoal-bundle-"));
  try {
    const metafile = join(scratch, "inputs.json");
    await runEsbuild(task, metafile);
    await refuseOutsideInputs(task.work, metafile);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function runEsbuild(task: BuildTask | BundleTask, metafile: string): Promise<void> {
  const { esbuild, entry, work } = task;
  const name = task.type === "bundle" ? task.bundle : undefined;
  const format = await formatOf(task);
  await runTool(
    "esbuild",
    [
      esbuild,
      entry,
      "--bundle",
      "--packages=external",
      "--platform=node",
      "--target=node24",
      `--format=${format}`,
      "--sourcemap=inline",
      "--log-level=warning",
      `--metafile=${metafile}`,
      `--outfile=${join(work, bundleName(entry, format, name))}`,
    ],
    task,
    task.type === "bundle" ? undefined : (output) => withoutOutsideFiles(work, output),
  );
}

/** Node's own rules: the extension, then `type` of package.json. */
async function formatOf({ entry, work }: BuildTask | BundleTask): Promise<"cjs" | "esm"> {
  const extension = extname(entry);
  if (/^\.c[jt]s$/.test(extension)) return "cjs";
  if (/^\.m[jt]s$/.test(extension)) return "esm";
  const text = await readFile(join(work, "package.json"), "utf8");
  const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  return typeof manifest === "object" && manifest !== null && "type" in manifest && manifest.type === "module"
    ? "esm"
    : "cjs";
}
