import * as z from "zod/mini";
import { pageFields, SlugName, Timestamp } from "../base/common.ts";
import { checked, lazyObject } from "../base/schema.ts";
import { checkedLater } from "../base/rules.ts";

/** A browser extension that sessions can start with. */
export interface Extension extends z.output<typeof Extension> {}
export const Extension = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project; `null` or absent when it was uploaded without one. */
  name: z.optional(z.nullable(z.string())),
  /** When it was uploaded. */
  created_at: Timestamp,
  /** Size of the ZIP archive, in bytes. */
  size_bytes: z.int(),
  /** SHA-256 of the archive, 64 hexadecimal digits in lower case. */
  checksum: z.optional(z.nullable(z.string())),
  /** When a session last started with it; `null` or absent while none did. */
  last_used_at: z.optional(z.nullable(Timestamp)),
}));

/** Input of `extensions.upload`. */
export interface UploadExtension extends z.input<typeof UploadExtension> {}
export const UploadExtension = lazyObject(() => ({
  /** ZIP archive of the unpacked extension, `manifest.json` at its top or in its only folder; at most 50 MiB. */
  file: z.file(),
  /** Unique in the project: 1 to 255 letters, digits, dots, underscores and hyphens. */
  name: z.optional(SlugName),
}));

/** Input of `extensions.list`. */
export interface ListExtensions extends z.input<typeof ListExtensions> {}
export const ListExtensions = lazyObject(() => ({
  ...pageFields,
  /** Part of a name (case does not matter), or a whole id. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
}));

/** Input of `extensions.downloadFromChromeStore`. */
export interface ChromeStoreExtension extends z.input<typeof ChromeStoreExtension> {}
export const ChromeStoreExtension = lazyObject(() => ({
  /** Address of the extension's page in the Chrome Web Store, at most 2048 characters. */
  url: checked(
    z.string(),
    z.minLength(1),
    z.maxLength(2048),
    checkedLater({
      keywords: {
        pattern: "^https?://(?:chromewebstore\\.google\\.com|chrome\\.google\\.com)/(?:[^?#]*/)?[a-p]{32}(?:[/?#].*)?$",
      },
    }),
  ),
  /** The system that the extension is to be for. */
  os: z._default(z.enum(["win", "mac", "linux"]), "linux"),
}));
