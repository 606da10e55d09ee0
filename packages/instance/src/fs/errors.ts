import { badInput, ServiceError } from "@shoal/router";

/** The request does not fit; `field` names the part of it, as the router's own 400s do: `body.path: must be absolute`. */
export function invalidInput(field: string, message: string): ServiceError {
  return badInput(`${field}: ${message}`);
}

/** 404 that names the API path. */
export function notFound(action: string, path: string): ServiceError {
  return new ServiceError(404, "not_found", `Cannot ${action} ${path}: it does not exist. List its directory with list_files.`);
}

/** 400 for something that is no regular file; `advice` says what to call instead. */
export function notAFile(action: string, path: string, what: string, advice: string): ServiceError {
  return new ServiceError(400, "not_a_file", `Cannot ${action} ${path}: it is ${what}. ${advice}`);
}

/** 400 for something that is no directory; `advice` says what to call instead. */
export function notADirectory(action: string, path: string, what: string, advice: string): ServiceError {
  return new ServiceError(400, "not_a_directory", `Cannot ${action} ${path}: it is ${what}. ${advice}`);
}

/** 413 that names the limit and what goes beyond it. */
export function tooLarge(what: string, limit: string): ServiceError {
  return new ServiceError(413, "payload_too_large", `${what} is larger than ${limit}, the most that is taken. Send less at a time.`);
}

/** Whether a system call failed with one of these codes (`ENOENT`, …). */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code);
}

/**
 * What a failed system call means to the caller.
 *
 * @param action - what was tried, to stand after "Cannot": `read`, `list`.
 * @param path - API path that it was tried on; the error of the system, which names the host's path, is kept as `cause` alone.
 * @returns a {@link ServiceError}, or `error` itself where it is no system call's, or one that only a fault of ours explains.
 */
export function fileSystemError(error: unknown, action: string, path: string): unknown {
  if (!(error instanceof Error) || ServiceError.isInstance(error) || !("code" in error)) return error;
  const failed = (status: number, code: string, reason: string) =>
    new ServiceError(status, code, `Cannot ${action} ${path}: ${reason}`, { cause: error });
  switch (error.code) {
    case "ENOENT":
      return failed(404, "not_found", "it does not exist. List its directory with list_files.");
    case "EACCES":
    case "EPERM":
      return failed(
        403,
        "permission_denied",
        "the operating system does not permit it. Look at owner and mode with file_info, change them with set_file_permissions, or use a path below the home directory.",
      );
    case "EROFS":
      return failed(403, "permission_denied", "it lies on a read-only filesystem. Use a path below the home directory.");
    case "EISDIR":
    case "ERR_FS_EISDIR":
      return failed(400, "not_a_file", "it is a directory. Name a file, or use the directory operations.");
    case "ENXIO":
    case "EOPNOTSUPP":
      return failed(400, "not_a_file", "it is no regular file. Name a regular file.");
    case "ENOTDIR":
      return failed(400, "not_a_directory", "a part of the path is not a directory. Look at its parts with file_info.");
    case "ENOSPC":
    case "EDQUOT":
      return failed(507, "insufficient_storage", "no space is left. Delete files that are not needed and send the request again.");
    case "EFBIG":
      return failed(413, "payload_too_large", "it would be larger than the filesystem allows. Send less.");
    case "ENAMETOOLONG":
      return failed(400, "bad_request", "a name in it is longer than the filesystem allows (255 bytes on most), or the whole is. Use shorter names.");
    case "ELOOP":
      return failed(400, "bad_request", "its symbolic links lead in a circle, or through too many others. Name the file that is meant.");
    case "EINVAL":
      return failed(400, "bad_request", "the filesystem refuses it as invalid. Use another name.");
    case "EBUSY":
    case "ETXTBSY":
      return failed(409, "conflict", "it is in use. End what uses it and send the request again.");
    case "EEXIST":
    case "ENOTEMPTY":
      return failed(409, "conflict", "something is there already. Delete it first, or use another path.");
    default:
      return error;
  }
}

/** Runs `work` and throws what {@link fileSystemError} makes of its failure. */
export async function orServiceError<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileSystemError(error, action, path);
  }
}
