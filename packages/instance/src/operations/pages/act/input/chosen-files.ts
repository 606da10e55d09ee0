import { invalid, notAFile } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileSystemError } from "../../../fs/errors.ts";
import { hostPath, normalisePath, type SessionRoot } from "../../../fs/paths.ts";
import type { TypedSecrets } from "../../../../secrets/typed-secrets.ts";

/** Most entries of a folder for a field. */
const maxEntries = 10_000;

export interface FileSource {
  readonly root: SessionRoot;
  /** After a stored value was typed, the service closes files to some callers, and an action does not name its caller. */
  readonly secrets: Pick<TypedSecrets, "hidesPages">;
}

/** A file or folder of the session for the page. */
export interface ChosenFile {
  /** For the browser. */
  readonly path: string;
  /** In the session, for errors. */
  readonly shown: string;
  readonly kind: "file" | "folder" | "other";
}

export interface GivenFiles {
  readonly files: readonly ChosenFile[];
  readonly source: FileSource;
}

/** @throws {ServiceError} 400, 403 or 404 for a path that cannot be read. */
export async function readFiles(source: FileSource, paths: readonly string[]): Promise<readonly ChosenFile[]> {
  const files: ChosenFile[] = [];
  for (const [place, given] of paths.entries()) {
    const shown = normalisePath(given, `body.paths[${String(place)}]`);
    const path = await openPath(source, shown);
    const stats = await stat(path).catch((error: unknown) => {
      throw fileSystemError(error, "upload", shown);
    });
    if (!stats.isFile() && !stats.isDirectory()) throw ServiceError.of(notAFile("upload", shown, "not a regular file"));
    files.push({ path, shown, kind: stats.isFile() ? "file" : "folder" });
  }
  return files;
}

/**
 * Call it directly before the browser gets the paths: a stored value may have been typed since they were read.
 * @throws {ServiceError} as {@link readFiles}.
 */
export async function pathsNow({ files, source }: GivenFiles): Promise<string[]> {
  const paths: string[] = [];
  for (const file of files) {
    paths.push(await openPath(source, file.shown));
    if (file.kind === "folder") await checkFolder(source, file);
  }
  return paths;
}

/** @throws {ServiceError} 400 for files that do not fit the field. */
export async function checkFiles(
  files: readonly ChosenFile[],
  { folder, multiple }: { readonly folder: boolean; readonly multiple: boolean },
  source: FileSource,
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
  if (folder) for (const file of files) await checkFolder(source, file);
}

/** The browser reads the whole folder, also through links: they must not leave the session. */
async function checkFolder(source: FileSource, { path, shown }: ChosenFile): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw fileSystemError(error, "upload", shown);
  });
  if (entries.length > maxEntries)
    throw ServiceError.of(invalid("body.paths[0]", "the folder has too many entries", { limit: maxEntries }));
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) continue;
    const inside = relative(path, join(entry.parentPath, entry.name));
    await openPath(source, join(shown, inside));
  }
}

/** The files of the browser and of processes stay closed. @throws {ServiceError} 403 or 404. */
async function openPath({ root, secrets }: FileSource, shown: string): Promise<string> {
  const pathOf = (path: string) => hostPath(root, path, { follow: true, action: "upload" });
  const path = await pathOf(shown);
  if (!secrets.hidesPages) return path;
  const real = await realpath(path).catch((error: unknown) => {
    throw fileSystemError(error, "upload", shown);
  });
  const folders = [root.home, "/tmp"];
  for (const folder of folders) {
    const top = await realpath(await pathOf(folder)).catch(() => undefined);
    if (top !== undefined && (real === top || real.startsWith(top + sep))) return path;
  }
  throw new ServiceError(
    403,
    "forbidden",
    `A stored value was typed in this session, and actions upload no files outside of ${folders.join(" and ")}: ${shown}.`,
    { hint: "Use a file of these folders, or a new session." },
  );
}
