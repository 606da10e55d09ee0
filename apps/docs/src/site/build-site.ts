import { layout, homePage, notFoundPage, type Assets } from "./layout.ts";
import { Links, withSiteLinks } from "./links.ts";
import { type Group, htmlPathOf, markdownPathOf, type Page } from "./page.ts";
import { render } from "./render.ts";

export interface SiteParts {
  readonly version: string;
  readonly groups: readonly Group[];
  /** Pages that the sidebar does not have. */
  readonly others: readonly Page[];
  /** The index of the API, and its areas. */
  readonly api: readonly Page[];
  readonly home: Page;
  /** Further files of `docs`, such as pictures: `images/live-view.png`. */
  readonly files: readonly string[];
  readonly exists: (path: string) => boolean;
}

export interface BuiltSite {
  /** Text of the search: one entry for each heading. */
  readonly search: string;
  /** Pages by their file in the site, as HTML and as Markdown. @param assets - include the search by its name */
  pages(assets: Assets): Map<string, string>;
}

/** @throws {Error} that lists the links to missing pages, files and headings. */
export function buildSite({ api, exists, files, groups, home, others, version }: SiteParts): BuiltSite {
  const listed = [...groups.flatMap(({ pages }) => pages), ...others, ...api];
  const links = new Links({ pages: [...listed, home], files, exists });
  const rendered = listed.map((page) => ({ page, ...render(page, links) }));
  // The home page has a separate layout; its Markdown only has to have links that work.
  render(home, links);
  const broken = links.broken();
  if (broken.length > 0) throw new Error(`The documentation has dead links:\n${broken.join("\n")}`);
  const groupOf = new Map(groups.flatMap(({ name, pages }) => pages.map((page) => [page, name] as const)));
  const search = {
    pages: rendered.map(({ page }) => [page.path, page.title, groupOf.get(page) ?? (page.isReference ? "API" : "")]),
    sections: rendered.flatMap(({ sections }, index) =>
      sections.map(({ heading, id, text }) => [index, id, heading, text]),
    ),
  };
  return {
    search: JSON.stringify(search),
    pages(assets) {
      const site = { version, groups, api, assets };
      return new Map([
        ["index.html", homePage(site, home)],
        ["404.html", notFoundPage(site)],
        ...rendered.map((content) => [htmlPathOf(content.page), layout(site, content)] as const),
        ...[...listed, home].map((page) => [markdownPathOf(page), withSiteLinks(page, links)] as const),
      ]);
    },
  };
}
