import { DatabaseError } from "../database-error.ts";

/** What PostgreSQL, the C library and Node say when a disk or a quota is full. */
const fullDisk = /No space left on device|Disk quota exceeded|Check free disk space|wrote only \d+ of \d+ bytes|ENOSPC|EDQUOT/;

/** Whether an error or the output of a program says that the disk is full. */
export function saysDiskFull(text: string): boolean {
  return fullDisk.test(text);
}

/** The disk under `directory` is full. */
export function diskFull(directory: string, cause?: unknown): DatabaseError {
  return new DatabaseError(`The disk that holds the database in ${directory} is full.`, {
    code: "disk_full",
    hint: "Free some space there (a new database takes 40 MB, and its log grows to 256 MB under load), or choose another data directory.",
    cause,
  });
}

/** An error of the file system in the data directory, in words for the user; other errors are returned as they are. */
export function explainFileError(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || DatabaseError.isInstance(error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (saysDiskFull(`${code} ${error.message}`)) return diskFull(directory, error);
  if (!["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENOENT", "ENAMETOOLONG"].includes(code)) return error;
  return new DatabaseError(`The data directory ${directory} cannot be written to: ${error.message}.`, {
    code: "data_dir_unwritable",
    hint: "Choose a data directory that belongs to you, or correct its owner and mode.",
    cause: error,
  });
}
