import * as z from "zod/mini";

export const Manifest = z.object({
  shoal_backup: z.literal(1),
  version: z.string(),
  created_at: z.string(),
  migrations: z.array(z.string()),
  secrets: z.boolean(),
});
export type Manifest = z.output<typeof Manifest>;

/** The last entry. A backup without it is truncated. */
export const Closing = z.object({
  rows: z.record(z.string(), z.int()),
  files: z.int(),
  file_bytes: z.int(),
});
export type Closing = z.output<typeof Closing>;

export const names = {
  manifest: "manifest.json",
  closing: "end.json",
  database: "database/",
  blobs: "blobs/",
  secrets: "secrets/",
} as const;

/** Files of the data folder that decrypt data and grant access to the local user. */
export const secretFiles = ["secret.key", "admin-key.json"] as const;

export const maxTextBytes = 256 * 1024 * 1024;
