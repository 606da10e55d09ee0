import * as z from "zod/mini";
import { checked } from "./schema.ts";
import { checkedLater } from "./rules.ts";

const pageRange = "[0-9]{1,5}(?: *- *[0-9]{0,5})?| *- *[0-9]{1,5}";
const pageRanges = `^ *(?:${pageRange})(?: *, *(?:${pageRange}))* *$`;

const inches = (maximum: number) => checked(z.number(), z.minimum(0), z.maximum(maximum));

export const printFields = () => ({
  /** The paper; `A4` when absent. */
  format: z._default(z.enum(["A3", "A4", "A5", "Letter", "Legal", "Tabloid"]), "A4"),
  /** Turn the paper. */
  landscape: z._default(z.boolean(), false),
  /** Print background colours and images. */
  print_background: z._default(z.boolean(), true),
  /** 0.1 to 2. */
  scale: z._default(checked(z.number(), z.minimum(0.1), z.maximum(2)), 1),
  /** Margin on each side in inches, 0 to 4. */
  margin_inches: z._default(inches(4), 0.4),
  /** Pages to print, such as `1-3,5`; all when absent. */
  page_ranges: z.optional(checked(z.string(), z.maxLength(200), checkedLater({ keywords: { pattern: pageRanges } }))),
});
