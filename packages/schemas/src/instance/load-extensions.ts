import * as z from "zod/mini";
import { SlugName } from "../base/common.ts";
import { checked, lazyObject } from "../base/schema.ts";

/** Input of `browsers.loadExtensions`. */
export interface LoadExtensions extends z.input<typeof LoadExtensions> {}
export const LoadExtensions = lazyObject(() => ({
  /** The extensions, 1 to 20. */
  extensions: checked(
    z.array(
      z.object({
        /** Names the extension within the session: 1 to 255 letters, digits, dots, underscores and hyphens. */
        name: SlugName,
        /** The unpacked extension as a ZIP archive with `manifest.json` at its top. */
        zip_file: z.file(),
      }),
    ),
    z.minLength(1),
    z.maxLength(20),
  ),
}));
