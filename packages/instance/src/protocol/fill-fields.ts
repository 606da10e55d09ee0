import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import { secretPlace, secretValue } from "./offered-secret.ts";

/** Stored values for fields of one page, which are checked before the first one is typed. Never logged or stored. */
export interface FillFields extends z.output<typeof FillFields> {}
export const FillFields = lazyObject(() => ({
  /** The exact address of the page; absent: the only page. */
  page_url: z.optional(checked(z.string(), z.minLength(1), z.maxLength(8192))),
  ...secretPlace(),
  fields: checked(
    z.array(z.object({ selector: checked(z.string(), z.minLength(1), z.maxLength(8192)), value: secretValue() })),
    z.minLength(1),
    z.maxLength(32),
  ),
}));

/** Its address is absent with another number of pages. */
export interface OnlyPage extends z.output<typeof OnlyPage> {}
export const OnlyPage = lazyObject(() => ({
  pages: checked(z.int(), z.minimum(0)),
  url: z.optional(checked(z.string(), z.maxLength(8192))),
}));

/** One result for each field, in order. */
export interface FilledFields extends z.output<typeof FilledFields> {}
export const FilledFields = lazyObject(() => ({
  fields: checked(
    z.array(
      z.object({
        status: z.enum(["filled", "failed", "unknown", "not_attempted"]),
        error_code: z.optional(
          z.enum([
            "target_changed",
            "element_not_found",
            "ambiguous_selector",
            "element_not_editable",
            "timeout",
            "execution_failed",
          ]),
        ),
      }),
    ),
    z.maxLength(32),
  ),
}));
