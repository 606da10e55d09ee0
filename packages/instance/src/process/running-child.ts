/** A program that was started. Its output comes by {@link ChildEvents}. */
export interface RunningChild {
  readonly pid: number;
  /** Writes to its input; resolves when the system has taken it all. Rejects when it reads no more. */
  write(data: Buffer): Promise<void>;
  /** Ends its input. */
  closeInput(): void;
  /** Stops and goes on reading its output: what it writes meanwhile fills the system's buffer, and then it waits. */
  pause(): void;
  resume(): void;
  /** Only of a terminal: the file descriptor of our end of it, until its output has ended. */
  readonly terminalFd?: number;
  /** Only of a terminal. */
  readonly resize?: (columns: number, rows: number) => void;
}

/** What a child reports. */
export interface ChildEvents {
  readonly onOutput: (channel: "stdout" | "stderr", chunk: Buffer) => void;
  /** The program itself has ended; output may follow. */
  readonly onExit: (exitCode: number) => void;
  /** All output has come. Follows {@link ChildEvents.onExit}. */
  readonly onEnd: () => void;
}
