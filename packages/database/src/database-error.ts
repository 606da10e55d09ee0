const marker = Symbol.for("shoal.error.DatabaseError");

export type DatabaseErrorCode =
  | "invalid_url" // not a PostgreSQL URL
  | "connection_failed" // the server does not answer
  | "authentication_failed" // wrong user or password
  | "tls_failed" // TLS is unsupported or the certificate is invalid
  | "database_missing" // the database does not exist
  | "permission_denied" // the role may not create tables
  | "server_too_old" // older than PostgreSQL 14
  | "encoding_unsupported" // the encoding of the database is not UTF-8
  | "server_read_only" // a standby, or set to read only
  | "schema_newer" // migrated by a newer Shoal
  | "migration_failed" // a migration failed and was rolled back
  | "data_dir_locked" // another process uses the data directory
  | "data_dir_unwritable" // the data directory is not writable
  | "data_dir_unreachable" // PostgreSQL's user cannot access the data directory
  | "data_version" // the data directory is of another major version of PostgreSQL
  | "restore_failed" // a backup is damaged or incompatible
  | "disk_full"
  | "embedded_unavailable" // no PostgreSQL binaries that run on this platform
  | "embedded_failed"; // the embedded PostgreSQL did not start for another reason

/** The database is unusable. Neither `message` nor `hint` contains a password. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  readonly [marker] = true;
  readonly code: DatabaseErrorCode;
  readonly hint: string;

  constructor(message: string, init: ErrorOptions & Pick<DatabaseError, "code" | "hint">) {
    super(message, "cause" in init ? { cause: init.cause } : undefined);
    this.code = init.code;
    this.hint = init.hint;
  }

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is DatabaseError {
    return typeof error === "object" && error !== null && marker in error;
  }
}
