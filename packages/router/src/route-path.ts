/**
 * Longest path parameter that routers let through to the check of the endpoint. It is measured before `%2F` and its like are decoded, so 255
 * characters may take three times as many; Node bounds the whole request line anyway.
 */
export const maxParamLength = 16_384;

/** `/browsers/{id}/fs` is `/browsers/:id/fs` in the language of find-my-way. */
export function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Names of the placeholders of a path. */
export function placeholders(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}
