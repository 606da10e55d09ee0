/** Returns `value`. TypeScript keeps a narrowed type across an `await`, but not across a call. */
export function isTrue(value: boolean): boolean {
  return value;
}
