import { invalid, notAFile } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileSystemError } from "../../../fs/errors.ts";
import { hostPath, normalisePath, type SessionRoot } from "../../../fs/paths.ts";

/** Most entries of a folder for a field. */
const maxEntries = 10_000;

/** A file or folder of the session for the page. */
export interface ChosenFile {
  /** For the browser. */
  readonly path: string;
  /** In the session, for errors. */
  readonly shown: string;
  readonly kind: "file" | "folder" | "other";
}

/** @throws {ServiceError} 400, 403 or 404 for a path that cannot be read. */
export async function readFiles(root: SessionRoot, paths: readonly string[]): Promise<readonly ChosenFile[]> {
  const files: ChosenFile[] = [];
  for (const [place, given] of paths.entries()) {
    const shown = normalisePath(given, `body.paths[${String(place)}]`);
    const path = await hostPath(root, shown, { follow: true, action: "upload" });
    const stats = await stat(path).catch((error: unknown) => {
      throw fileSystemError(error, "upload", shown);
    });
    if (!stats.isFile() && !stats.isDirectory()) throw ServiceError.of(notAFile("upload", shown, "not a regular file"));
    files.push({ path, shown, kind: stats.isFile() ? "file" : "folder" });
  }
  return files;
}

/** @throws {ServiceError} 400 for files that do not fit the field. */
export async function checkFiles(
  files: readonly ChosenFile[],
  { folder, multiple }: { readonly folder: boolean; readonly multiple: boolean },
  root: SessionRoot,
): Promise<void> {
  const wrong = files.findIndex(({ kind }) => (kind === "folder") !== folder);
  const { shown = "" } = files[wrong] ?? {};
  if (wrong !== -1 && folder)
    throw ServiceError.of(
      invalid(`body.paths[${String(wrong)}]`, "the field takes a folder", { hint: "Pass the path of a folder." }),
    );
  if (wrong !== -1) throw ServiceError.of(notAFile("upload", shown, "a directory"));
  if (files.length > 1 && (folder || !multiple))
    throw ServiceError.of(invalid("body.paths", `the field takes one ${folder ? "folder" : "file"}`, { limit: 1 }));
  if (folder) for (const file of files) await checkFolder(root, file);
}

/** The browser reads the whole folder, also through links: they must not leave the session. */
async function checkFolder(root: SessionRoot, { path, shown }: ChosenFile): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw fileSystemError(error, "upload", shown);
  });
  if (entries.length > maxEntries)
    throw ServiceError.of(invalid("body.paths[0]", "the folder has too many entries", { limit: maxEntries }));
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) continue;
    const inside = relative(path, join(entry.parentPath, entry.name));
    await hostPath(root, join(shown, inside), { follow: true, action: "upload" });
  }
}
