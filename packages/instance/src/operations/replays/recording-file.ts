import { appendFile } from "node:fs/promises";

/** Largest file in bytes; the recording ends there. */
const maxFileBytes = 2 * 2 ** 30;

export interface RecordingFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly isFull: boolean;
  /** Resolves when the file is complete. If the encoder was lost, it plays up to its last fragment. */
  readonly written: Promise<void>;
  readonly isWritten: boolean;
  grown(): Promise<void>;
  /** Appends bytes; call it sequentially. */
  append(bytes: Buffer): Promise<void>;
  close(): void;
}

export function createRecordingFile(path: string): RecordingFile {
  let sizeBytes = 0;
  let isWritten = false;
  const written = Promise.withResolvers<undefined>();
  let grown = Promise.withResolvers<undefined>();

  function tellGrown(): void {
    grown.resolve(undefined);
    grown = Promise.withResolvers();
  }

  return {
    path,
    get sizeBytes() {
      return sizeBytes;
    },
    get isFull() {
      return sizeBytes >= maxFileBytes;
    },
    written: written.promise,
    get isWritten() {
      return isWritten;
    },
    grown: () => grown.promise,
    async append(bytes) {
      await appendFile(path, bytes, { mode: 0o600 });
      sizeBytes += bytes.length;
      tellGrown();
    },
    close() {
      isWritten = true;
      written.resolve(undefined);
      tellGrown();
    },
  };
}
