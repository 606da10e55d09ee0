import { DatabaseError } from "../database-error.ts";

const fullDisk =
  /No space left on device|Disk quota exceeded|Check free disk space|wrote only \d+ of \d+ bytes|ENOSPC|EDQUOT/;

export function saysDiskFull(text: string): boolean {
  return fullDisk.test(text);
}

export function diskFull(directory: string, cause?: unknown): DatabaseError {
  return new DatabaseError(`The disk of the database in ${directory} is full.`, {
    code: "disk_full",
    hint: "Free disk space (a new database takes 40 MB, and its log grows to 256 MB under load), or choose another data directory.",
    cause,
  });
}

export function explainFileError(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || DatabaseError.isInstance(error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (saysDiskFull(`${code} ${error.message}`)) return diskFull(directory, error);
  if (!["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENOENT", "ENAMETOOLONG"].includes(code)) return error;
  return new DatabaseError(`Cannot write to the data directory ${directory}: ${error.message}.`, {
    code: "data_dir_unwritable",
    hint: "Choose a data directory that you own, or fix its owner and mode.",
    cause: error,
  });
}
