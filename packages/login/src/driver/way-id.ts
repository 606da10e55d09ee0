import type { ReadWay } from "../reading/ways.ts";

/** The same for the same choice of a page, across looks. */
export function idOf({ factor, label, provider, type }: ReadWay): string {
  const parts = [type, provider ?? factor ?? "", label].join(" ");
  return parts
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 100);
}
