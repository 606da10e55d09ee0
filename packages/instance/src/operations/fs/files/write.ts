import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { orServiceError, tooLarge } from "../errors.ts";
import type { FileSystemLimits } from "../limits.ts";
import type { SessionRoot } from "../paths.ts";
import { findTarget, placeFile } from "./targets.ts";
import { bytesText, stageFile } from "../temporary.ts";

export interface FileContent {
  readonly path: string;
  /** By default those of the replaced file, or 0644. */
  readonly mode: number | undefined;
  readonly content: Readable;
  readonly announcedBytes: number | undefined;
}

/** Moves a new file into place: readers see the old or the new content. Replaces the target of a symbolic link. */
export async function writeFile(root: SessionRoot, file: FileContent, limits: FileSystemLimits): Promise<void> {
  const { announcedBytes, content, mode, path } = file;
  await orServiceError("write", path, async () => {
    if (announcedBytes !== undefined && announcedBytes > limits.uploadBytes)
      throw tooLarge(path, limits.uploadBytes, bytesText(limits.uploadBytes));
    const target = await findTarget(root, path);
    const { path: temporary } = await stageFile(target.stagingDirectory, content, {
      what: path,
      bytes: limits.uploadBytes,
    });
    try {
      await placeFile(target, temporary, mode);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}
