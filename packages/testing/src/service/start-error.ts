import { DatabaseError } from "@shoal/database";
import { messageOf } from "@shoal/primitives";

/** @returns the code of the error, or of its cause. */
function codeOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  return "code" in error ? error.code : "cause" in error ? codeOf(error.cause) : undefined;
}

const unwritable = new Set<unknown>(["EACCES", "EPERM", "EROFS", "ENOTDIR"]);

const otherPlaces =
  process.platform === "win32"
    ? "set TEMP and LOCALAPPDATA to other folders"
    : "set TMPDIR and XDG_CACHE_HOME to other folders";

/** Returns the error of a start that needed to write to `folder`, with the next step. */
export function startError(error: unknown, folder: string): Error {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT" || code === "disk_full")
    return new Error(`The fake needs 60 MB in ${folder}, and the disk is full. Free space, or ${otherPlaces}.`, {
      cause: error,
    });
  if (unwritable.has(code))
    return new Error(`The fake cannot write to ${folder} (${messageOf(error)}). Allow it, or ${otherPlaces}.`, {
      cause: error,
    });
  if (DatabaseError.isInstance(error))
    return new Error(`The fake's PostgreSQL did not start. ${error.message} ${error.hint}`, { cause: error });
  return error instanceof Error ? error : new Error(messageOf(error), { cause: error });
}
