/** Returns the code of an error of the system, of Node or of PostgreSQL: `ENOENT`. `undefined` for other values. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True for an error with one of `codes`. */
export function hasCode(error: unknown, ...codes: readonly string[]): error is Error & { readonly code: string } {
  const code = codeOf(error);
  return code !== undefined && codes.includes(code);
}
