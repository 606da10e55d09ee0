/** Bounds of one session's processes. */
export interface ProcessLimits {
  /** Processes that run at once, each with all that it starts itself. */
  readonly running: number;
  /** Processes that a session can name: those that run, and those that have ended. */
  readonly handles: number;
  /** Readers of one process's output at once. */
  readonly readersPerProcess: number;
  /** Bytes of output, in base64, that is kept of a process for its readers. */
  readonly outputBytes: number;
  /** Bytes of output, in base64, that is kept of all processes; what has ended gives way first. */
  readonly outputBytesPerSession: number;
  /** Bytes that `exec` takes of both channels together. */
  readonly execBytes: number;
  /** Bytes that were written to a process's input and that it has not read. */
  readonly inputBytes: number;
  /** How long a write to a process's input waits for the process to read. */
  readonly inputMs: number;
  /** How long a process waits for a reader that takes nothing. */
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
