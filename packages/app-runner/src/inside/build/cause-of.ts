import { messageOf } from "@shoal/primitives";

/** Errors of `fetch` say only that it failed; their cause has the reason. */
export function causeOf(error: unknown): string {
  return messageOf(error instanceof Error ? (error.cause ?? error) : error);
}
