import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { orServiceError, tooLarge } from "./errors.ts";
import type { FileSystemLimits } from "./limits.ts";
import type { SessionRoot } from "./paths.ts";
import { findTarget, placeFile } from "./targets.ts";
import { bytesText, stageFile } from "./temporary.ts";

/** What is written, and where. */
export interface FileContent {
  /** Normalised API path. */
  readonly path: string;
  /** Permission bits; when absent those of the file that is replaced, or 0644. */
  readonly mode: number | undefined;
  readonly content: Readable;
  /** As the client announced it. */
  readonly announcedBytes: number | undefined;
}

/**
 * Writes a file: beside its place first, then moved there in one step, so that a reader sees the old content or the new one, and a client that goes away changes nothing.
 * A hard link to the old file keeps the old content. Through a symbolic link the file that it names is replaced.
 */
export async function writeFile(root: SessionRoot, file: FileContent, limits: FileSystemLimits): Promise<void> {
  const { announcedBytes, content, mode, path } = file;
  await orServiceError("write", path, async () => {
    if (announcedBytes !== undefined && announcedBytes > limits.uploadBytes) throw tooLarge(path, bytesText(limits.uploadBytes));
    const target = await findTarget(root, path);
    const { path: temporary } = await stageFile(target.stagingDirectory, content, { what: path, bytes: limits.uploadBytes });
    try {
      await placeFile(target, temporary, mode);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}
