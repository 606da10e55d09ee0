/** Bounds of what the filesystem operations take. */
export interface FileSystemLimits {
  /** Bytes of the files of one write or upload. */
  readonly uploadBytes: number;
  /** Files of one upload; also the highest index in `files[i]`. */
  readonly uploadFiles: number;
  /** Bytes of an uploaded archive. */
  readonly archiveBytes: number;
  /** Bytes that an archive may unpack to. */
  readonly unpackedBytes: number;
  /** Files, directories and links in an archive. */
  readonly archiveEntries: number;
  /** How many times larger than its packed form an entry of an archive may be, from `ratioFromBytes` on. */
  readonly ratio: number;
  /** Unpacked size, in bytes, below which an entry may be packed as tightly as it likes. */
  readonly ratioFromBytes: number;
  /** How long the deletion of a directory that others write into is repeated, in milliseconds. */
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
