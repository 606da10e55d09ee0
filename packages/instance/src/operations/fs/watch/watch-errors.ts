import { codeOf, hasCode } from "@shoal/primitives";
import { watchedPathMissing, watchedPathNotADirectory } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

export function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

export function isForbidden(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EACCES" || code === "EPERM";
}

/** The path may become accessible later: its directory is unreadable, or the path is above the system's limit. */
export function isOutOfReach(error: unknown): boolean {
  return isForbidden(error) || hasCode(error, "ENAMETOOLONG");
}

export function watchError(error: unknown, path: string): ServiceError {
  if (ServiceError.isInstance(error)) return error;
  const options = { cause: error };
  switch (codeOf(error)) {
    case "ENOENT":
      return ServiceError.of(watchedPathMissing(path), options);
    case "ENOTDIR":
      return ServiceError.of(watchedPathNotADirectory(path), options);
    case "EACCES":
    case "EPERM":
      return new ServiceError(
        403,
        "permission_denied",
        `${path} cannot be watched: the session's user may not read it.`,
        options,
      );
    case "ENOSPC":
      return new ServiceError(
        507,
        "insufficient_storage",
        `${path} cannot be watched: the system has no inotify watches left (one is needed for each directory).`,
        {
          ...options,
          hint: `Stop watches that are not needed, watch a smaller directory or without "recursive", or have the host's administrator raise /proc/sys/fs/inotify/max_user_watches (sysctl fs.inotify.max_user_watches).`,
        },
      );
    case "EMFILE":
    case "ENFILE":
      return new ServiceError(
        507,
        "insufficient_storage",
        `${path} cannot be watched: the system has no inotify instances or open files left.`,
        {
          ...options,
          hint: "Have the host's administrator raise /proc/sys/fs/inotify/max_user_instances (sysctl fs.inotify.max_user_instances), or the limit of open files.",
        },
      );
    case "ENOMEM":
      return new ServiceError(
        507,
        "insufficient_storage",
        `${path} cannot be watched: the system is out of memory for watches.`,
        { ...options, hint: "Stop watches that are not needed." },
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
    `${path} cannot be watched: with it, the watches of this session would cover more than ${limit} files and directories.`,
    { limit, hint: 'Watch a smaller directory or without "recursive", or stop other watches.' },
  );
}
