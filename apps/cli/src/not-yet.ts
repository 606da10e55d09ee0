/** A sentence of help about what the service does not have yet: `Create a credential (not in this service yet).` */
export function markNotYet(sentence: string): string {
  return sentence.replace(/\.?$/, " (not in this service yet).");
}

/** Below the description of such a command. A newer service may have what this version's has not, so the command calls it all the same. */
export const notYetExplained =
  "The service of this version answers that it is not implemented (exit status 11); a newer one may have it, and then this works.";
