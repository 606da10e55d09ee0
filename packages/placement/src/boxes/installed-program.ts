import { PlacementError } from "../interface/placement-error.ts";
import { removeTree } from "../host/remove-tree.ts";
import { createHash } from "node:crypto";
import { access, chmod, mkdtemp, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface InstalledProgram {
  readonly path: string;
  readonly hash: string;
}

/**
 * Copies once per content: an upgrade may replace the original, but instances load parts of it late.
 * @param extra - executable files that the program needs next to it.
 * @throws {PlacementError} `start_failed` if the program does not exist.
 */
export async function installProgram(
  programPath: string,
  parent: string,
  extra: readonly string[] = [],
): Promise<InstalledProgram> {
  const files = await readFolder(dirname(programPath)).catch((error: unknown) => {
    throw new PlacementError(
      "start_failed",
      `Cannot read the instance program ${programPath}. In a checkout, build it first: pnpm build.`,
      {
        cause: error,
      },
    );
  });
  if (!files.has(basename(programPath)))
    throw new PlacementError(
      "start_failed",
      `The instance program ${programPath} does not exist. In a checkout, build it first: pnpm build.`,
    );
  const executable = new Set(extra.map((path) => basename(path)));
  for (const path of extra) files.set(basename(path), await readFile(path));
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
    if (!(await exists(path))) throw error;
  }
  return { path, hash };
}

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return new Map(
    await Promise.all(names.sort().map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
