import * as z from "zod/mini";

/** First entry of a backup. */
export const Manifest = z.object({
  shoal_backup: z.literal(1),
  /** Of the service that made it. */
  version: z.string(),
  created_at: z.string(),
  migrations: z.array(z.string()),
  /** Whether `secrets/` is in it. */
  secrets: z.boolean(),
});
export type Manifest = z.output<typeof Manifest>;

/** Last entry of a backup: without it, it was cut off. */
export const Closing = z.object({
  rows: z.record(z.string(), z.int()),
  files: z.int(),
  file_bytes: z.int(),
});
export type Closing = z.output<typeof Closing>;

export const names = { manifest: "manifest.json", closing: "end.json", database: "database/", blobs: "blobs/", secrets: "secrets/" } as const;

/** Files of the data folder without which what is sealed cannot be read, and which let this machine's user in. */
export const secretFiles = ["secret.key", "admin-key.json"] as const;

/** Larger entries are none that are read into memory. */
export const maxTextBytes = 256 * 1024 * 1024;
