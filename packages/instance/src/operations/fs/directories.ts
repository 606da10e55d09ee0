import { hasCode } from "@shoal/primitives";
import { directoryMissing, notADirectory, notAFile } from "@shoal/contract/refusals";
import type { FileInfo } from "@shoal/schemas";
import { ServiceError } from "@shoal/router";
import { lstat, readdir, stat, unlink } from "node:fs/promises";
import { fileSystemError, orServiceError } from "./errors.ts";
import { readableName } from "./escaped-names.ts";
import { describeFile, fileKind } from "./file-info.ts";
import type { FileSystemLimits } from "./limits.ts";
import { apiPath, hostPath, locate, topOf, type SessionRoot } from "./paths.ts";
import { refuseProtected } from "./protected.ts";
import { remainsOf, removeTree } from "./remove-tree.ts";
import { makeDirectories } from "./temporary.ts";

/** The thread pool has four threads; more concurrent entries only keep them busy. */
const concurrency = 64;
const namedRemains = 5;

/** Omits entries that vanish meanwhile. Escapes and flags names that are not UTF-8; other calls reject their paths. */
export async function listFiles(root: SessionRoot, path: string): Promise<FileInfo[]> {
  const action = "list";
  return orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: true, action });
    const names = await readdir(place, { encoding: "buffer" }).catch(async (error: unknown) => {
      if (!hasCode(error, "ENOTDIR")) throw error;
      const stats = await stat(place).catch(() => undefined);
      if (stats === undefined) throw error;
      throw ServiceError.of(notADirectory(action, path, fileKind(stats)));
    });
    const prefix = Buffer.from(place.endsWith("/") ? place : `${place}/`);
    const found: FileInfo[] = [];
    let next = 0;
    const lookAtRest = async (): Promise<void> => {
      for (let name = names[next++]; name !== undefined; name = names[next++]) {
        const { text, ...flag } = readableName(name);
        try {
          found.push({
            ...describeFile(
              path === "/" ? `/${text}` : `${path}/${text}`,
              text,
              await lstat(Buffer.concat([prefix, name])),
            ),
            ...flag,
          });
        } catch (error) {
          if (!hasCode(error, "ENOENT")) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, names.length) }, lookAtRest));
    return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  });
}

/** Creates a directory with exactly `mode`, and missing parents with 0755. An existing directory stays as it is. */
export async function createDirectory(root: SessionRoot, path: string, mode: number): Promise<void> {
  const action = "create";
  await orServiceError(action, path, async () => {
    const { existing, missing } = await locate(root, path, { follow: true, action });
    if (missing.length === 0) {
      const stats = await lstat(existing);
      if (!stats.isDirectory()) throw ServiceError.of(notADirectory(action, path, fileKind(stats)));
    }
    await makeDirectories(existing, missing, mode);
  });
}

export async function deleteFile(root: SessionRoot, path: string): Promise<void> {
  const action = "delete";
  await orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: false, action });
    const stats = await lstat(place);
    if (stats.isDirectory()) throw ServiceError.of(notAFile(action, path, "a directory"));
    await unlink(place);
  });
}

/** @throws {ServiceError} 403 `protected_path`; 409 `directory_busy` after `limits.busyMs` of new files. */
export async function deleteDirectory(
  root: SessionRoot,
  path: string,
  options: { readonly missingOk: boolean; readonly limits: FileSystemLimits },
): Promise<void> {
  const action = "delete";
  const { existing, missing } = await locate(root, path, { follow: false, action });
  if (missing.length > 0) {
    if (options.missingOk) return;
    throw ServiceError.of(directoryMissing(path));
  }
  await orServiceError(action, path, async () => {
    const stats = await lstat(existing);
    if (!stats.isDirectory()) throw ServiceError.of(notADirectory(action, path, fileKind(stats)));
    await refuseProtected(root, { path, place: existing, action });
    try {
      await removeTree(existing, options.limits.busyMs);
    } catch (error) {
      if (hasCode(error, "ENOTEMPTY", "EEXIST")) throw await directoryBusy(root, existing, path);
      throw fileSystemError(error, action, await refusedPath(root, error, path));
    }
  });
}

async function refusedPath(root: SessionRoot, error: unknown, path: string): Promise<string> {
  if (!(error instanceof Error) || !("path" in error)) return path;
  return apiPath(await topOf(root), String(error.path)) ?? path;
}

async function directoryBusy(root: SessionRoot, place: string, path: string): Promise<ServiceError> {
  const top = await topOf(root);
  const remains = await remainsOf(place, 1000);
  const named = remains.slice(0, namedRemains).map((remaining) => apiPath(top, remaining) ?? path);
  const rest =
    remains.length > named.length
      ? ` and ${remains.length === 1000 ? "many" : remains.length - named.length} more`
      : "";
  return new ServiceError(
    409,
    "directory_busy",
    `Cannot delete ${path}: a process keeps writing into it. Its content was deleted, except ${named.length === 0 ? "new entries" : named.join(", ")}${rest}.`,
    { hint: "End that process, then send the request again." },
  );
}
