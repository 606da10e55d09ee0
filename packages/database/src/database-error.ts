const marker = Symbol.for("shoal.error.DatabaseError");

/** What went wrong with the database as a whole; single queries reject with the driver's own errors. */
export type DatabaseErrorCode =
  | "invalid_url" // the URL is not one of PostgreSQL
  | "connection_failed" // nothing answers there, or the connection broke
  | "authentication_failed" // the server refuses this user or password
  | "tls_failed" // no agreement on encryption
  | "database_missing" // the server has no database of that name
  | "permission_denied" // the role may not create Shoal's tables
  | "server_too_old" // older than PostgreSQL 14
  | "encoding_unsupported" // the database does not hold UTF-8
  | "server_read_only" // a standby, or set to read only
  | "schema_newer" // migrated by a newer Shoal than this one
  | "migration_failed" // a migration failed; nothing of it was kept
  | "data_dir_locked" // another process runs on the data directory
  | "data_dir_unwritable" // we cannot write there
  | "data_dir_unreachable" // PostgreSQL's user cannot get there
  | "data_version" // the data directory was made by another major version of PostgreSQL
  | "restore_failed" // a backup is damaged, or does not fit
  | "disk_full"
  | "embedded_unavailable" // no PostgreSQL binaries for this platform, or they do not run here
  | "embedded_failed"; // the embedded PostgreSQL did not start, for any other reason

/** The database cannot be used. `message` says what failed and on what, `hint` what to do; neither holds a password. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  readonly [marker] = true;
  readonly code: DatabaseErrorCode;
  /** What to do, in one sentence. */
  readonly hint: string;

  constructor(message: string, init: ErrorOptions & Pick<DatabaseError, "code" | "hint">) {
    super(message, "cause" in init ? { cause: init.cause } : undefined);
    this.code = init.code;
    this.hint = init.hint;
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is DatabaseError {
    return typeof error === "object" && error !== null && marker in error;
  }
}
