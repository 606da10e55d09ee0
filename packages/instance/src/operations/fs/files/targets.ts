import { hasCode } from "@shoal/primitives";
import { notAFile } from "@shoal/contract/refusals";
import { constants, type Stats } from "node:fs";
import { chmod, chown, lstat, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "@shoal/router";
import { fileKind } from "../file-info.ts";
import { locate, type SessionRoot } from "../paths.ts";
import { makeDirectories } from "../temporary.ts";

export interface FileTarget {
  readonly path: string;
  /** Existing directory on the same filesystem, for the unfinished file. */
  readonly stagingDirectory: string;
  readonly base: string;
  readonly names: readonly string[];
  readonly replaced: Stats | undefined;
}

/** Checks a file's destination. A link stays: its target is replaced or created. */
export async function findTarget(root: SessionRoot, path: string): Promise<FileTarget> {
  const action = "write";
  const { existing, missing } = await locate(root, path, { follow: true, action });
  if (missing.length > 0)
    return { path, stagingDirectory: existing, base: existing, names: missing, replaced: undefined };
  const stats = await lstat(existing);
  if (!stats.isFile()) throw ServiceError.of(notAFile(action, path, fileKind(stats)));
  await refuseReadOnly(existing);
  const base = dirname(existing);
  return { path, stagingDirectory: base, base, names: [existing.slice(join(base, "/").length)], replaced: stats };
}

/** A rename would replace a read-only file. A running program cannot be written, but can be replaced. */
async function refuseReadOnly(path: string): Promise<void> {
  try {
    await (await open(path, constants.O_WRONLY | constants.O_NONBLOCK)).close();
  } catch (error) {
    if (!hasCode(error, "ETXTBSY")) throw error;
  }
}

/** `mode` defaults to that of the replaced file, or 0644. */
export async function placeFile(target: FileTarget, temporary: string, mode: number | undefined): Promise<void> {
  const { replaced } = target;
  if (replaced !== undefined && process.geteuid?.() === 0 && replaced.uid !== 0)
    await chown(temporary, replaced.uid, replaced.gid);
  await chmod(temporary, mode ?? (replaced === undefined ? 0o644 : replaced.mode & 0o7777));
  const directory = await makeDirectories(target.base, target.names.slice(0, -1));
  const place = join(directory, target.names.at(-1) ?? "");
  try {
    await rename(temporary, place);
  } catch (error) {
    // The system's error differs when a directory has appeared meanwhile.
    if (hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST"))
      throw ServiceError.of(notAFile("write", target.path, "a directory"));
    throw error;
  }
}
