import { hasCode } from "@shoal/primitives";
/** @param constraint - default: any. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    hasCode(error, "23505") && (constraint === undefined || ("constraint" in error && error.constraint === constraint))
  );
}

/** @param constraint - default: any. */
export function isForeignKeyViolation(error: unknown, constraint?: RegExp): boolean {
  return (
    hasCode(error, "23503") &&
    (constraint === undefined || ("constraint" in error && constraint.test(String(error.constraint))))
  );
}
