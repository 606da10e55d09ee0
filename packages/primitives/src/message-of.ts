/** Returns the message of a thrown value: `message` of an `Error`, or the value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
