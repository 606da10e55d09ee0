import type { FileInfo } from "@shoal/schemas";
import { ServiceError } from "@shoal/router";
import { lstat, readdir, stat, unlink } from "node:fs/promises";
import { fileSystemError, hasCode, notADirectory, notAFile, orServiceError } from "./errors.ts";
import { readableName } from "./escaped-names.ts";
import { describeFile, fileKind } from "./file-info.ts";
import type { FileSystemLimits } from "./limits.ts";
import { apiPath, hostPath, locate, topOf, type SessionRoot } from "./paths.ts";
import { refuseProtected } from "./protected.ts";
import { remainsOf, removeTree } from "./remove-tree.ts";
import { makeDirectories } from "./temporary.ts";

/** As many entries as are looked at at once: the thread pool has four threads, more entries only keep them busy. */
const concurrency = 64;
/** How many of the remaining entries a `directory_busy` names. */
const namedRemains = 5;

/**
 * Lists a directory, one level, sorted by name (by UTF-16 units); links are described as themselves, entries that vanish meanwhile are left out.
 * A name that is not UTF-8 is given escaped and flagged; its path cannot be used in other calls.
 */
export async function listFiles(root: SessionRoot, path: string): Promise<FileInfo[]> {
  const action = "list";
  return orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: true, action });
    const names = await readdir(place, { encoding: "buffer" }).catch(async (error: unknown) => {
      if (!hasCode(error, "ENOTDIR")) throw error;
      const stats = await stat(place).catch(() => undefined);
      if (stats === undefined) throw error;
      throw notADirectory(action, path, fileKind(stats), "Use file_info or read_file.");
    });
    const prefix = Buffer.from(place.endsWith("/") ? place : `${place}/`);
    const found: FileInfo[] = [];
    let next = 0;
    const lookAtRest = async (): Promise<void> => {
      for (let name = names[next++]; name !== undefined; name = names[next++]) {
        const { text, ...flag } = readableName(name);
        try {
          found.push({ ...describeFile(path === "/" ? `/${text}` : `${path}/${text}`, text, await lstat(Buffer.concat([prefix, name]))), ...flag });
        } catch (error) {
          if (!hasCode(error, "ENOENT")) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, names.length) }, lookAtRest));
    return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  });
}

/**
 * Makes a directory and its missing parents; an existing one is left as it is.
 *
 * @param mode - permission bits of the directory, whatever the umask is; its new parents get 0755.
 */
export async function createDirectory(root: SessionRoot, path: string, mode: number): Promise<void> {
  const action = "create";
  await orServiceError(action, path, async () => {
    const { existing, missing } = await locate(root, path, { follow: true, action });
    if (missing.length === 0) {
      const stats = await lstat(existing);
      if (!stats.isDirectory()) throw notADirectory(action, path, fileKind(stats), "Delete it first, or use another path.");
    }
    await makeDirectories(existing, missing, mode);
  });
}

/** Deletes a file, a link (not what it names), a pipe, a socket. */
export async function deleteFile(root: SessionRoot, path: string): Promise<void> {
  const action = "delete";
  await orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: false, action });
    const stats = await lstat(place);
    if (stats.isDirectory()) throw notAFile(action, path, "a directory", "Use delete_directory.");
    await unlink(place);
  });
}

/**
 * Deletes a directory with everything in it. Links on the way to it are followed, links in it are deleted themselves.
 *
 * @param options.missingOk - a directory that does not exist is no error.
 * @throws {ServiceError} 403 `protected_path` for `/`, the home directory, mounts and what holds one of them; 409 `directory_busy`, which
 *   names what is left, when others went on writing into it for `limits.busyMs`.
 */
export async function deleteDirectory(
  root: SessionRoot,
  path: string,
  options: { readonly missingOk: boolean; readonly limits: FileSystemLimits },
): Promise<void> {
  const action = "delete";
  const { existing, missing } = await locate(root, path, { follow: false, action });
  if (missing.length > 0) {
    if (options.missingOk) return;
    throw new ServiceError(404, "not_found", `Cannot delete ${path}: it does not exist. Send missing_ok=true if that is no error.`);
  }
  await orServiceError(action, path, async () => {
    const stats = await lstat(existing);
    if (!stats.isDirectory()) throw notADirectory(action, path, fileKind(stats), "Use delete_file.");
    await refuseProtected(root, { path, place: existing, action });
    try {
      await removeTree(existing, options.limits.busyMs);
    } catch (error) {
      if (hasCode(error, "ENOTEMPTY", "EEXIST")) throw await directoryBusy(root, existing, path);
      throw fileSystemError(error, action, await refusedPath(root, error, path));
    }
  });
}

/** The API path of what the system refused to remove, where it is told. */
async function refusedPath(root: SessionRoot, error: unknown, path: string): Promise<string> {
  if (!(error instanceof Error) || !("path" in error)) return path;
  return apiPath(await topOf(root), String(error.path)) ?? path;
}

async function directoryBusy(root: SessionRoot, place: string, path: string): Promise<ServiceError> {
  const top = await topOf(root);
  const remains = await remainsOf(place, 1000);
  const named = remains.slice(0, namedRemains).map((remaining) => apiPath(top, remaining) ?? path);
  const rest = remains.length > named.length ? ` and ${remains.length === 1000 ? "many" : remains.length - named.length} more` : "";
  return new ServiceError(
    409,
    "directory_busy",
    `Cannot delete ${path}: something goes on writing into it. What was in it is deleted; left are ${named.length === 0 ? "new entries" : named.join(", ")}${rest}. End what writes there and send the request again.`,
  );
}
