/** Of the result of a tool, as JSON. */
export const maxResultCharacters = 1_000_000;
/** Deeper answers would exceed the stack of some readers. */
const maxDepth = 64;

/** Whether a value of a page is short enough as JSON, and not nested too deeply. */
export function fitsAsJson(value: unknown, maxCharacters: number): boolean {
  return value === undefined || (isShallow(value) && JSON.stringify(value).length <= maxCharacters);
}

export function isShallow(value: unknown, depth = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
}
