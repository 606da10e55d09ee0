import type { Readable } from "node:stream";

export interface OpenedExtension {
  readonly name: string;
  /** A ZIP archive. */
  readonly stream: Readable;
}

/**
 * Each function is called once per attempt, because `acquire` may try several instances, and its stream is always read
 * or destroyed. Their errors are thrown unchanged.
 */
export interface SessionFiles {
  readonly extensions?: readonly (() => Promise<OpenedExtension>)[] | undefined;
  readonly profile?: (() => Promise<Readable>) | undefined;
}
