/**
 * Whether an error is PostgreSQL's unique_violation: a row with the same unique values is there already.
 *
 * @param constraint - which one; any when absent.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "23505" &&
    (constraint === undefined || ("constraint" in error && error.constraint === constraint))
  );
}

/**
 * Whether an error is PostgreSQL's foreign_key_violation: what a row refers to is gone.
 *
 * @param constraint - which one; any when absent.
 */
export function isForeignKeyViolation(error: unknown, constraint?: RegExp): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "23503" &&
    (constraint === undefined || ("constraint" in error && constraint.test(String(error.constraint))))
  );
}
