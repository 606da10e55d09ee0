import { PlacementError } from "./placement-error.ts";
import { removeTree } from "./remove-tree.ts";
import { createHash } from "node:crypto";
import { access, chmod, mkdtemp, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A copy of the instance program that stays as it is while this server runs. */
export interface InstalledProgram {
  /** Path of the file to start. */
  readonly path: string;
  /** Stands for its content. */
  readonly hash: string;
}

/**
 * Copies the program's folder into `parent`, once for each content: an instance loads parts of it late, when an upgrade may have replaced the original, and
 * boxes run as users who may not read where that lies.
 *
 * @param beside - files, of other folders, that it needs beside it and may run.
 * @throws {PlacementError} `start_failed` when there is no such program.
 */
export async function installProgram(programPath: string, parent: string, beside: readonly string[] = []): Promise<InstalledProgram> {
  const files = await readFolder(dirname(programPath)).catch((error: unknown) => {
    throw new PlacementError("start_failed", `The instance program ${programPath} cannot be read. In a checkout, build it first: pnpm build.`, {
      cause: error,
    });
  });
  if (!files.has(basename(programPath)))
    throw new PlacementError("start_failed", `The instance program ${programPath} does not exist. In a checkout, build it first: pnpm build.`);
  const executable = new Set(beside.map((path) => basename(path)));
  for (const path of beside) files.set(basename(path), await readFile(path));
  const sum = createHash("sha256");
  for (const [name, content] of files) sum.update(`${name}\0${content.length}\0`).update(content);
  const hash = sum.digest("hex").slice(0, 16);
  const folder = join(parent, `program-${hash}`);
  const path = join(folder, basename(programPath));
  if (await exists(path)) return { path, hash };
  const fresh = await mkdtemp(join(parent, ".program-"));
  try {
    for (const [name, content] of files) {
      await writeFile(join(fresh, name), content);
      await chmod(join(fresh, name), executable.has(name) ? 0o755 : 0o644);
    }
    await chmod(fresh, 0o755);
    await rename(fresh, folder);
  } catch (error) {
    await removeTree(fresh);
    // Another server was faster.
    if (!(await exists(path))) throw error;
  }
  return { path, hash };
}

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return new Map(await Promise.all(names.sort().map(async (name) => [name, await readFile(join(folder, name))] as const)));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
