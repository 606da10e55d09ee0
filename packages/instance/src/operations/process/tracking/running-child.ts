export interface RunningChild {
  readonly pid: number;
  /** Resolves when the system has accepted the bytes. Rejects when the program has closed its input. */
  write(data: Buffer): Promise<void>;
  closeInput(): void;
  /** While paused, the program blocks once the system's buffer is full. */
  pause(): void;
  resume(): void;
  /** Our descriptor of a terminal, until its output ends. */
  readonly terminalFd?: number;
  readonly resize?: (columns: number, rows: number) => void;
}

export interface ChildEvents {
  readonly onOutput: (channel: "stdout" | "stderr", chunk: Buffer) => void;
  readonly onExit: (exitCode: number) => void;
  readonly onEnd: () => void;
}
