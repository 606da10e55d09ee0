import * as z from "zod/mini";
import { SlugName } from "./common.ts";
import { checked, lazyObject, type Schema } from "./schema.ts";

export const LoadExtensionsShape = lazyObject(() => ({
  /** The extensions, at most 20. */
  extensions: checked(
    z.array(
      z.object({
        /** Names the extension within the session: 1 to 255 letters, digits, dots, underscores and hyphens. */
        name: SlugName,
        /** The unpacked extension as a ZIP archive with `manifest.json` at its top. */
        zip_file: z.file(),
      }),
    ),
    z.maxLength(20),
  ),
}));
/** What `browsers.loadExtensions` takes. */
export interface LoadExtensions extends z.input<typeof LoadExtensionsShape> {}
export const LoadExtensions: Schema<LoadExtensions> = LoadExtensionsShape;
