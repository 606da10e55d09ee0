/** Whether an error is PostgreSQL's unique_violation: a row with the same unique values is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}
