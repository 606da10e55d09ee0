import * as z from "zod/mini";
import { Id, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";

/** Query of `browsers.downloads.list`. */
export interface ListBrowserDownloads extends z.input<typeof ListBrowserDownloads> {}
export const ListBrowserDownloads = lazyObject(() => pageFields);

/** Input of `browsers.downloads.wait`. */
export interface WaitForDownload extends z.input<typeof WaitForDownload> {}
export const WaitForDownload = lazyObject(() => ({
  /** `download_id` of a finished download: wait for the download that finishes next. Default: the first of the session. */
  after: z.optional(Id),
  /** Seconds to wait, 0 to 50. */
  timeout_seconds: z._default(checked(z.int(), z.minimum(0), z.maximum(50)), 30),
}));

/** A file that a page or a client of the session downloads. */
export interface BrowserDownload extends z.output<typeof BrowserDownload> {}
export const BrowserDownload = lazyObject(() => ({
  /** Chromium's GUID, as in CDP events. */
  download_id: z.string(),
  /** `canceled` also for failed transfers, which Chromium does not distinguish; `interrupted` when the browser or session ended. */
  state: openEnum("in_progress", "completed", "canceled", "interrupted"),
  /** The name that the site suggested, at most 1024 characters. The file's name may differ: see `path`. */
  name: z.string(),
  /** Path in the session's files, for `browsers.fs`; `null` without a complete file. */
  path: z.nullable(z.string()),
  /** The size of a complete file, otherwise the expected size; `null` if unknown. */
  size_bytes: z.nullable(z.int()),
  /** Bytes that have arrived. */
  received_bytes: z.int(),
  /** SHA-256 of the file in hexadecimal; `null` without a complete file, or if the file changed while it was read. */
  sha256: z.nullable(z.string()),
  /** Address of the file without credentials, query and fragment; at most 2048 characters. */
  origin_url: z.string(),
  /** When it began. */
  started_at: Timestamp,
  /** `null` while it runs. */
  finished_at: z.nullable(Timestamp),
}));
