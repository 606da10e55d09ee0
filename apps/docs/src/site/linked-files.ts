import { posix } from "node:path";
import type { Page } from "./page.ts";

/**
 * The files of `docs` that pages link to or show, relative to `docs`.
 * @param candidates - files of the repository
 */
export function linkedFiles(pages: readonly Page[], candidates: readonly string[]): string[] {
  const targets = pages.flatMap(({ markdown, source }) =>
    [...markdown.matchAll(/\]\(([^)\s#]+)\)|\b(?:src|srcset)="([^"\s]+)"/g)].map(([, link, picture]) =>
      posix.join(posix.dirname(source), link ?? picture ?? ""),
    ),
  );
  const linked = new Set(targets);
  return candidates.filter((path) => linked.has(path)).map((path) => path.replace(/^docs\//, ""));
}
