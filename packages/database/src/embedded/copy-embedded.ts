import { constants } from "node:fs";
import { chown, copyFile, lchown, lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Copies a folder with an embedded database that does not run, to a missing folder. Files and links keep their modes and,
 * for root, their owners, which PostgreSQL requires.
 */
export async function copyEmbedded(from: string, to: string): Promise<void> {
  const keepsOwners = process.geteuid?.() === 0;
  async function copy(folder: string, target: string): Promise<void> {
    const { gid, mode, uid } = await lstat(folder);
    await mkdir(target, { mode: mode & 0o777 });
    if (keepsOwners) await chown(target, uid, gid);
    const entries = await readdir(folder, { withFileTypes: true });
    await Promise.all(
      entries.map(async (entry) => {
        const [source, copied] = [join(folder, entry.name), join(target, entry.name)];
        if (entry.isDirectory()) {
          await copy(source, copied);
          return;
        }
        // A copy of PostgreSQL, which some users need, has links between its libraries.
        if (entry.isSymbolicLink()) await symlink(await readlink(source), copied);
        else if (entry.isFile()) await copyFile(source, copied, constants.COPYFILE_FICLONE);
        else return;
        if (!keepsOwners) return;
        const owner = await lstat(source);
        await lchown(copied, owner.uid, owner.gid);
      }),
    );
  }
  await copy(from, to);
}
