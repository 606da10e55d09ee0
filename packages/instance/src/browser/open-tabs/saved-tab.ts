import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

export const maxTabs = 20;
export const maxHistory = 50;
export const maxFields = 500;
export const maxStoredItems = 2_000;
export const maxAddressCharacters = 65_536;
/** Of all tabs together, as JSON. Storage and fields that do not fit are omitted, the oldest tabs first. */
export const maxTabCharacters = 2 * 2 ** 20;

const Items = z.lazy(() =>
  checked(z.array(z.object({ name: z.string(), value: z.string() })), z.maxLength(maxStoredItems)),
);

/** What a form field contains. The same names can occur several times, so a field also has a place among them. */
export interface SavedField extends z.output<typeof SavedField> {}
export const SavedField = lazyObject(() => ({
  key: z.string(),
  place: z.int(),
  value: z.optional(z.string()),
  checked: z.optional(z.boolean()),
  /** Of a list: the places of its selected options. */
  selected: z.optional(checked(z.array(z.int()), z.maxLength(1_000))),
}));

/** Absent for a page that did not answer. */
export interface PageContent extends z.output<typeof PageContent> {}
export const PageContent = lazyObject(() => ({
  scroll: z.object({ x: z.number(), y: z.number() }),
  /** Only changed fields, and none for secrets. */
  fields: checked(z.array(SavedField), z.maxLength(maxFields)),
  /** Absent without storage, as in `data:` pages, or when it does not fit. */
  local_storage: z.optional(Items),
  session_storage: z.optional(Items),
}));

/** An open page, so that another browser can open it again. */
export interface SavedTab extends z.output<typeof SavedTab> {}
export const SavedTab = lazyObject(() => ({
  /** Addresses, oldest first. */
  history: checked(
    z.array(checked(z.string(), z.maxLength(maxAddressCharacters))),
    z.minLength(1),
    z.maxLength(maxHistory),
  ),
  /** The place of the present page in the history. */
  index: checked(z.int(), z.minimum(0)),
  in_front: z.boolean(),
  content: z.optional(PageContent),
}));
