export interface ProcessLimits {
  /** Without the children of these processes. */
  readonly running: number;
  readonly handles: number;
  readonly readersPerProcess: number;
  /** Kept output of one process, in bytes of base64. */
  readonly outputBytes: number;
  /** For all processes. Output of ended processes is dropped first. */
  readonly outputBytesPerSession: number;
  readonly execBytes: number;
  readonly inputBytes: number;
  /** Time that a write waits for the process to read its input. */
  readonly inputMs: number;
  /** Time that a process waits for a stalled reader. */
  readonly stalledMs: number;
}

export const defaultProcessLimits: ProcessLimits = {
  running: 200,
  handles: 10_000,
  readersPerProcess: 100,
  outputBytes: 4 * 1024 * 1024,
  outputBytesPerSession: 64 * 1024 * 1024,
  execBytes: 16 * 1024 * 1024,
  inputBytes: 4 * 1024 * 1024,
  inputMs: 10_000,
  stalledMs: 5_000,
};
