import type { GlobalFlags, OutputFormat } from "../../core/types.ts";

export interface RenderFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly file?: string;
  readonly as?: string;
  readonly fullPage?: boolean;
  readonly waitUntil?: string;
  readonly waitFor?: string;
  readonly wait?: string;
  readonly profile?: string;
  readonly proxy?: string;
}
