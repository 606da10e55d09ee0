/** `Create a credential (not implemented yet)` */
export function markNotYet(summary: string): string {
  return `${summary} (not implemented yet)`;
}

/** A newer service may implement the operation, so the command still calls it. */
export const notYetExplained =
  "This version of the service does not implement the command and answers with exit status 11. Newer versions may.";
