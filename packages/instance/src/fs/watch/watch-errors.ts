import { ServiceError } from "@shoal/router";

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

export function isForbidden(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EACCES" || code === "EPERM";
}

/** Whether something cannot be looked at where it is, but perhaps later: it is in an unreadable directory, or its path is longer than the system takes. */
export function isOutOfReach(error: unknown): boolean {
  return isForbidden(error) || codeOf(error) === "ENAMETOOLONG";
}

/** What a client is told when the system refuses to watch, or to look at, a directory. */
export function watchError(error: unknown, path: string): ServiceError {
  if (ServiceError.isInstance(error)) return error;
  const options = { cause: error };
  switch (codeOf(error)) {
    case "ENOENT":
      return new ServiceError(404, "not_found", `${path} does not exist. Make it with browsers.fs.createDirectory(), then watch it.`, options);
    case "ENOTDIR":
      return new ServiceError(400, "not_a_directory", `${path} is not a directory. Watch the directory that it is in.`, options);
    case "EACCES":
    case "EPERM":
      return new ServiceError(403, "permission_denied", `${path} cannot be watched: the session's user may not read it.`, options);
    case "ENOSPC":
      return new ServiceError(
        507,
        "insufficient_storage",
        `${path} cannot be watched: the system has no inotify watches left (one is needed for each directory). Stop watches that are not needed, watch a smaller directory or without "recursive", or have the host's administrator raise /proc/sys/fs/inotify/max_user_watches (sysctl fs.inotify.max_user_watches).`,
        options,
      );
    case "EMFILE":
    case "ENFILE":
      return new ServiceError(
        507,
        "insufficient_storage",
        `${path} cannot be watched: the system has no inotify instances or open files left. Have the host's administrator raise /proc/sys/fs/inotify/max_user_instances (sysctl fs.inotify.max_user_instances), or the limit of open files.`,
        options,
      );
    case "ENOMEM":
      return new ServiceError(
        507,
        "insufficient_storage",
        `${path} cannot be watched: the system is out of memory for watches. Stop watches that are not needed.`,
        options,
      );
    default:
      return new ServiceError(
        500,
        "internal_error",
        `${path} cannot be watched: the system refused it${codeOf(error) === undefined ? "" : ` with ${codeOf(error) ?? ""}`}.`,
        options,
      );
  }
}

export function silentFilesystem(path: string): ServiceError {
  return new ServiceError(
    400,
    "bad_request",
    `${path} cannot be watched: it lies on a filesystem of the kernel's own, such as /proc, which does not report changes.`,
  );
}

export function tooManyEntries(path: string, limit: number): ServiceError {
  return new ServiceError(
    507,
    "insufficient_storage",
    `${path} cannot be watched: with it, the watches of this session would cover more than ${limit} files and directories. Watch a smaller directory or without "recursive", or stop other watches.`,
  );
}
