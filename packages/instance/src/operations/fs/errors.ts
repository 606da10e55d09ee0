import {
  contentTooLarge,
  linkLoop,
  modeForbids,
  notAFile,
  parentNotADirectory,
  pathMissing,
  type Refusal,
} from "@shoal/contract/refusals";
import { badInput, ServiceError } from "@shoal/router";
import type { ErrorCode } from "@shoal/schemas";

export function invalidInput(
  field: string,
  message: string,
  options: Parameters<typeof badInput>[2] = {},
): ServiceError {
  return badInput(field, message, options);
}

export function tooLarge(...content: Parameters<typeof contentTooLarge>): ServiceError {
  return ServiceError.of(contentTooLarge(...content));
}

/** `action` continues "Cannot": `read`. Only `cause` contains the host's path. Does not translate bugs. */
export function fileSystemError(error: unknown, action: string, path: string): unknown {
  if (!(error instanceof Error) || ServiceError.isInstance(error) || !("code" in error)) return error;
  const refusal = refusalFor(error.code, action, path);
  return refusal === undefined ? error : ServiceError.of(refusal, { cause: error });
}

/** `code` is one of the system, or of Node. */
function refusalFor(code: unknown, action: string, path: string): Refusal | undefined {
  const refused = (status: number, name: ErrorCode, reason: string, hint: string): Refusal => ({
    status,
    code: name,
    problem: `Cannot ${action} ${path}: ${reason}.`,
    hint,
  });
  switch (code) {
    case "ENOENT":
      return pathMissing(action, path);
    case "EACCES":
    case "EPERM":
      return modeForbids(action, path);
    case "EROFS":
      return refused(
        403,
        "permission_denied",
        "it is on a read-only filesystem",
        "Use a path below the home directory.",
      );
    case "EISDIR":
    case "ERR_FS_EISDIR":
      return notAFile(action, path, "a directory");
    case "ENXIO":
    case "EOPNOTSUPP":
      return notAFile(action, path, "not a regular file");
    case "ENOTDIR":
      return parentNotADirectory(action, path);
    case "ENOSPC":
    case "EDQUOT":
      return refused(507, "insufficient_storage", "no space is left", "Delete files, then send the request again.");
    case "EFBIG":
      return refused(413, "payload_too_large", "it would be larger than the filesystem allows", "Send less.");
    case "ENAMETOOLONG":
      return refused(
        400,
        "bad_request",
        "the path, or a name in it, is longer than the filesystem allows (usually 255 bytes for a name)",
        "Use shorter names.",
      );
    case "ELOOP":
      return linkLoop(action, path);
    case "EINVAL":
      return refused(400, "bad_request", "the filesystem refuses it as invalid", "Use another name.");
    case "EBUSY":
    case "ETXTBSY":
      return refused(409, "conflict", "it is in use", "End the processes that use it, then send the request again.");
    case "EEXIST":
    case "ENOTEMPTY":
      return refused(409, "conflict", "the path already exists", "Delete it first, or use another path.");
    default:
      return undefined;
  }
}

export async function orServiceError<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileSystemError(error, action, path);
  }
}
