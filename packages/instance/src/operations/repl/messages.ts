export interface RunCell {
  readonly type: "run";
  readonly code: string;
  /** Its number in this process, from 1. */
  readonly cell: number;
  /** Of the browser's debugging port; absent while the browser does not run. */
  readonly endpoint: string | undefined;
  readonly visibleTarget: string | undefined;
}

export type CellEnd =
  { readonly success: true } | { readonly success: false; readonly error: string; readonly stack?: string | undefined };

export type TextChannel = "write" | "stdout" | "stderr";

/** User code can forge messages of the process, so the reader checks every field. */
export type ReplMessage =
  | { readonly type: "ready" }
  | { readonly type: "text"; readonly channel: TextChannel; readonly text: string }
  | { readonly type: "image"; readonly mimeType: string; readonly base64: string }
  | { readonly type: "done"; readonly end: CellEnd }
  /** An error outside of the calls. The process ends. */
  | { readonly type: "fatal"; readonly error: string; readonly stack: string | undefined };

export const maxTextCharacters = 1_000_000;
export const maxImageCharacters = 8 * 2 ** 20;
export const maxErrorCharacters = 100_000;
export const maxStackCharacters = 8_000;
