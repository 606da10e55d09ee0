import { appendFile } from "node:fs/promises";

/** Largest file, in bytes; the recording ends there. */
const maxFileBytes = 2 * 2 ** 30;

/** The file of a recording, which grows while it goes on. */
export interface RecordingFile {
  readonly path: string;
  /** So far. */
  readonly sizeBytes: number;
  /** Whether nothing more fits. */
  readonly isFull: boolean;
  /** Resolves when it grows no more; it plays up to its last piece even where the encoder was lost. */
  readonly written: Promise<void>;
  readonly isWritten: boolean;
  /** Resolves when it has grown, or is written. */
  grown(): Promise<void>;
  /** Adds a piece; one is added after the other. */
  append(bytes: Buffer): Promise<void>;
  /** Says that it grows no more. */
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
