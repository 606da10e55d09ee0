export interface FileSystemLimits {
  readonly uploadBytes: number;
  /** Files of one upload, and highest index in `files[i]`. */
  readonly uploadFiles: number;
  readonly archiveBytes: number;
  readonly unpackedBytes: number;
  readonly archiveEntries: number;
  /** Compression ratio of an entry of at least `ratioFromBytes`. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
  readonly busyMs: number;
}

const gibibyte = 1024 ** 3;

export const defaultLimits: FileSystemLimits = {
  uploadBytes: 20 * gibibyte,
  uploadFiles: 1000,
  archiveBytes: 5 * gibibyte,
  unpackedBytes: 10 * gibibyte,
  archiveEntries: 200_000,
  ratio: 250,
  ratioFromBytes: 64 * 1024 ** 2,
  busyMs: 5000,
};
