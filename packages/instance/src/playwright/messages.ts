/** What a worker is told: code to run. */
export interface RunMessage {
  readonly type: "run";
  readonly code: string;
  /** CDP WebSocket of the browser. */
  readonly endpoint: string;
  /** Folder for the files that Playwright makes, and for downloads while the code runs. */
  readonly artifactsDir: string;
  /** CDP target of the page in front, where it is known. */
  readonly visibleTarget: string | undefined;
  /** Milliseconds to reach the browser in. */
  readonly connectTimeoutMs: number;
}

export type OutputChannel = "stdout" | "stderr";

/** What a worker says. What runs in it is not trusted: its reader checks every field. */
export type WorkerMessage =
  | { readonly type: "ready" }
  | { readonly type: "output"; readonly channel: OutputChannel; readonly text: string }
  | { readonly type: "done"; readonly outcome: Outcome; /** Whether nothing of the code is left in the worker. */ readonly clean: boolean };

/** How code ended. */
export type Outcome =
  | { readonly success: true; /** JSON; absent when nothing was returned. */ readonly result: string | undefined }
  | {
      readonly success: false;
      readonly error: string;
      /** Set when the browser could not be reached, so that nothing of the code has run. */ readonly unreached?: boolean;
    };

/** Longest result, in characters of JSON. */
export const maxResultCharacters = 16 * 2 ** 20;
