import { bundleName } from "../../protocol/bundle-name.ts";
import type { BuildTask, BundleTask } from "../../protocol/messages.ts";
import { runTool } from "./run-tool.ts";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** Packages stay outside: the SDK's registry must be found when it is loaded. */
export async function bundle(task: BuildTask | BundleTask): Promise<void> {
  const { esbuild, entry, work } = task;
  const more = task.type === "bundle" ? [`--metafile=${task.metafile}`] : [];
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
      ...more,
      `--outfile=${join(work, bundleName(entry, format, name))}`,
    ],
    task,
  );
}

/** Node's own rules: the extension, then `type` of package.json. */
async function formatOf({ entry, work }: BuildTask | BundleTask): Promise<"cjs" | "esm"> {
  const extension = extname(entry);
  if (/^\.c[jt]s$/.test(extension)) return "cjs";
  if (/^\.m[jt]s$/.test(extension)) return "esm";
  const manifest: unknown = JSON.parse(await readFile(join(work, "package.json"), "utf8"));
  return typeof manifest === "object" && manifest !== null && "type" in manifest && manifest.type === "module"
    ? "esm"
    : "cjs";
}
