/** For programs for other services: 529 is unknown to them, and they repeat calls after 503. */
export function statusForForeigners(status: number): number {
  return status === 529 ? 503 : status;
}
