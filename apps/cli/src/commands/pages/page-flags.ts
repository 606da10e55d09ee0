import type { GlobalFlags, OutputFormat } from "../../core/types.ts";

export interface PageFlags extends GlobalFlags {
  readonly output: OutputFormat;
  /** ID or name. */
  readonly session?: string;
  readonly secret?: string;
  readonly [option: string]: unknown;
}
