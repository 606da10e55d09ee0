/** A person pressed Ctrl-C or Escape at a prompt. */
export class Interrupted extends Error {}
