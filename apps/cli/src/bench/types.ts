/** A browser that runs: a session, or a Chromium started by hand. */
export interface OpenBrowser {
  /** WebSocket of the Chrome DevTools Protocol. */
  readonly cdpUrl: string;
  /** Ends the browser. */
  close(): Promise<void>;
}

/** One side of a comparison. */
export interface Side {
  /** Starts a browser. */
  open(): Promise<OpenBrowser>;
}

/** The front page of a connected browser. */
export interface BenchPage {
  /** Resolves at DOMContentLoaded. */
  goto(url: string): Promise<void>;
  /** Clicks three times, types three letters, reads three texts and takes a picture of the bench page. */
  tenActions(): Promise<void>;
  /** Closes the connection; the browser goes on. */
  disconnect(): Promise<void>;
}

/** Automates browsers over CDP, with the same code for both sides. */
export interface Driver {
  /** Connects to the front page of a browser. */
  connect(cdpUrl: string): Promise<BenchPage>;
}

/** All sizes of a run. */
export interface BenchSizes {
  readonly warmUps: number;
  readonly lives: number;
  /** Lives at the same time. */
  readonly atOnce: readonly number[];
  /** Sessions at the same time, opened together. */
  readonly together: readonly number[];
  /** Sessions that make ten actions each. */
  readonly acting: number;
  /** Sessions at rest, of which the memory is measured. */
  readonly resting: number;
  /** Milliseconds before the memory is measured. */
  readonly restMs: number;
}

/** A run of some minutes. */
export const fullSizes: BenchSizes = {
  warmUps: 10,
  lives: 100,
  atOnce: [1, 10],
  together: [1, 5, 10, 25, 50],
  acting: 20,
  resting: 8,
  restMs: 10_000,
};

/** A run of less than a minute, for a first impression. */
export const quickSizes: BenchSizes = {
  warmUps: 2,
  lives: 10,
  atOnce: [1, 5],
  together: [1, 5, 10],
  acting: 3,
  resting: 4,
  restMs: 3_000,
};

/** Of a life: create, connect, goto, release. Times are in milliseconds. */
export interface Lives {
  readonly at_once: number;
  readonly attempts: number;
  readonly successes: number;
  readonly per_second: number;
  /** Of the sum of the four steps, as is `p95_ms`. */
  readonly median_ms: number;
  readonly p95_ms: number;
  /** Medians of the steps. */
  readonly create_ms: number;
  readonly connect_ms: number;
  readonly goto_ms: number;
  readonly release_ms: number;
  readonly first_error?: string;
}

/** Actions on pages, ten for each session. */
export interface Actions {
  readonly sessions: number;
  readonly per_second: number;
}

/** A figure of the service, and of Chromium by hand in the same run. */
export interface Pair<Figure> {
  readonly shoal: Figure;
  /** `null` where no Chromium was found. */
  readonly by_hand: Figure | null;
}

/** All figures of a run. */
export interface Comparison {
  readonly lives: readonly Pair<Lives>[];
  readonly actions: Pair<Actions>;
  /** Sessions opened together. */
  readonly together: readonly Pair<Lives>[];
}
