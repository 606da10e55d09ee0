/** A page of the site. Paths are relative to the site and have no leading slash. */
export interface Page {
  /** `guide/files`; ends with `/` for the index of a folder; empty for the home page. */
  readonly path: string;
  /** Its file in the repository. */
  readonly source: string;
  readonly title: string;
  /** One sentence, for the home page and search results of other sites. */
  readonly about: string;
  readonly markdown: string;
  /** Pages of the API: sections have the names of operations and types. */
  readonly isReference: boolean;
}

/** A titled list of pages in the sidebar. */
export interface Group {
  readonly name: string;
  readonly pages: readonly Page[];
}

/** Path of the same page as Markdown. */
export const markdownPathOf = ({ path }: Page): string =>
  path === "" || path.endsWith("/") ? `${path}README.md` : `${path}.md`;

/** Path of the same page as a file. */
export const htmlPathOf = ({ path }: Page): string =>
  path === "" || path.endsWith("/") ? `${path}index.html` : `${path}.html`;

/** Relative address of the site from a page: empty in its root, else `../`. */
export const rootFrom = ({ path }: Page): string => "../".repeat(path.split("/").length - 1);
