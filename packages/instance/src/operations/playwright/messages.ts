export interface RunMessage {
  readonly type: "run";
  readonly code: string;
  readonly endpoint: string;
  /** Folder for Playwright's files, and for downloads while the code runs. */
  readonly artifactsDir: string;
  readonly visibleTarget: string | undefined;
  /** Tabs of named executors, which are not `page` of other calls. */
  readonly taken: readonly string[];
  /** The tab of a named executor: `page` is this one, or a new one. Absent: the visible one. */
  readonly own?: { readonly targetId: string | undefined };
  readonly connectTimeoutMs: number;
}

/** The answer to `ended`: the worker closes the code's connection. */
export interface CloseMessage {
  readonly type: "close";
}

/** The tab of `page`. */
export interface CodeTab {
  readonly targetId: string;
  /** Opened for this call. */
  readonly created: boolean;
}

export type OutputChannel = "stdout" | "stderr";

/** User code can forge messages of a worker, so the reader checks every field. */
export type WorkerMessage =
  | { readonly type: "ready" }
  | { readonly type: "output"; readonly channel: OutputChannel; readonly text: string }
  /** Sent before the code runs, so that code cannot forge it. */
  | { readonly type: "tab"; readonly tab: CodeTab }
  /** The code has ended, and its connection is open. */
  | { readonly type: "ended" }
  | {
      readonly type: "done";
      readonly outcome: Outcome;
      /** Nothing of the code is left in the worker. */
      readonly clean: boolean;
    };

export type Outcome =
  | { readonly success: true; /** JSON; absent when nothing was returned. */ readonly result: string | undefined }
  | {
      readonly success: false;
      readonly error: string;
      /** The browser could not be reached, so nothing of the code has run. */
      readonly unreached?: boolean;
    };

export const maxResultCharacters = 16 * 2 ** 20;
