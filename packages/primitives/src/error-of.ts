/** Returns a thrown value as an `Error`: itself, or one with the value as its message. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
