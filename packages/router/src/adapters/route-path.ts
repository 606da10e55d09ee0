/**
 * Longest path parameter. Measured before percent-decoding, which can shrink a name to a third; the endpoint checks the
 * rest.
 */
export const maxParamLength = 16_384;

/** Converts `/browsers/{id}/fs` to find-my-way's `/browsers/:id/fs`. */
export function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

export function placeholders(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}
