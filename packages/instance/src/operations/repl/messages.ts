export type InstanceMethod = "addCustomTools" | "invokeTool" | "listCustomTools" | "listTools" | "removeCustomTool";

/** An error of the instance in code of the process. */
export interface AnsweredError {
  readonly message: string;
  readonly statusCode: number;
  readonly code: string;
  readonly invocationId?: string;
  readonly body: object;
}

/** The browser at the beginning of work. */
export interface PresentBrowser {
  /** Of the browser's debugging port; absent while the browser does not run. */
  readonly endpoint: string | undefined;
  readonly visibleTarget: string | undefined;
}

export interface RunCell extends PresentBrowser {
  readonly type: "run";
  readonly code: string;
  /** Its number in this process, from 1. */
  readonly cell: number;
}

/** A question to the process. */
export interface ReplQuestion {
  readonly type: "ask";
  readonly id: number;
  readonly method: "addSource" | "invoke";
  readonly params: object;
  readonly browser: PresentBrowser;
}

/** What the instance sends. */
export type ReplOrder =
  | RunCell
  | ReplQuestion
  /** Forgets the functions of other custom tools. */
  | { readonly type: "keep"; readonly ids: readonly string[] }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: AnsweredError };

export type CellEnd =
  { readonly success: true } | { readonly success: false; readonly error: string; readonly stack?: string | undefined };

export type TextChannel = "write" | "stdout" | "stderr";

/** User code can forge messages of the process, so the reader checks every field. */
export type ReplMessage =
  | { readonly type: "ready" }
  | { readonly type: "text"; readonly channel: TextChannel; readonly text: string }
  | { readonly type: "image"; readonly mimeType: string; readonly base64: string }
  | { readonly type: "done"; readonly end: CellEnd }
  | { readonly type: "ask"; readonly id: number; readonly method: InstanceMethod; readonly params: object }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly error: string }
  /** An error outside of the calls. The process ends. */
  | { readonly type: "fatal"; readonly error: string; readonly stack: string | undefined };

export const maxTextCharacters = 1_000_000;
export const maxImageCharacters = 8 * 2 ** 20;
export const maxErrorCharacters = 100_000;
export const maxStackCharacters = 8_000;
