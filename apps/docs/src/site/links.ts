import { posix } from "node:path";
import { markdownPathOf, type Page, rootFrom } from "./page.ts";

/** Resolves links between files of the repository to addresses of the site. */
export class Links {
  readonly #pages: ReadonlyMap<string, Page>;
  readonly #files: ReadonlySet<string>;
  readonly #anchors = new Map<string, ReadonlySet<string>>();
  readonly #used: { readonly from: Page; readonly to: Page; readonly anchor: string }[] = [];
  readonly #missing: string[] = [];
  readonly #exists: (path: string) => boolean;

  /**
   * @param options.pages - of the site
   * @param options.files - of `docs`, which the site also has, such as pictures: `images/live-view.png`
   * @param options.exists - true for a file or folder of the repository
   */
  constructor({ pages, files, exists }: LinkOptions) {
    this.#pages = new Map(pages.map((page) => [page.source, page]));
    this.#files = new Set(files);
    this.#exists = exists;
  }

  /** Records the anchors of a rendered page. */
  addAnchors(page: Page, anchors: Iterable<string>): void {
    this.#anchors.set(page.source, new Set(anchors));
  }

  /**
   * Returns the address of a target for a page, or `undefined` for a file that the site does not have.
   * @param form - of pages: addresses for browsers have no extension
   */
  resolve(from: Page, target: string, form: "html" | "markdown"): string | undefined {
    if (/^(?:https?:|mailto:)/.test(target)) return target;
    const [path = "", anchor] = target.split("#", 2);
    const hash = anchor === undefined ? "" : `#${anchor}`;
    const source = path === "" ? from.source : posix.join(posix.dirname(from.source), path);
    const page = this.#pages.get(source);
    if (page !== undefined) {
      if (anchor !== undefined && form === "html") this.#used.push({ from, to: page, anchor });
      if (page === from && path === "") return hash;
      const address = rootFrom(from) + (form === "html" ? page.path : markdownPathOf(page));
      return (address === "" ? "./" : address) + hash;
    }
    if (source === "openapi.json") return `${rootFrom(from)}../openapi.json`;
    const file = source.replace(/^docs\//, "");
    if (this.#files.has(file)) return rootFrom(from) + file + hash;
    if (!this.#exists(source)) this.#missing.push(`${from.source}: ${target} does not exist`);
    return undefined;
  }

  /** Links to missing files and headings, one line each. */
  broken(): readonly string[] {
    const withoutHeading = this.#used.filter(({ to, anchor }) => !this.#anchors.get(to.source)?.has(anchor));
    return [
      ...new Set([
        ...this.#missing,
        ...withoutHeading.map(({ from, to, anchor }) => `${from.source}: ${to.source} has no heading #${anchor}`),
      ]),
    ];
  }
}

interface LinkOptions {
  readonly pages: readonly Page[];
  readonly files: Iterable<string>;
  readonly exists: (path: string) => boolean;
}

/** Rewrites the links of a page for readers of its Markdown: targets that the site does not have become plain text. */
export function withSiteLinks(page: Page, links: Links): string {
  return page.markdown
    .split(/(^```[^]*?^```$)/m)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replaceAll(
            /(!?)\[((?:[^\]\\]|\\.)*)\]\(([^)\s]+)\)/g,
            (_link, mark: string, text: string, target: string) => {
              const address = links.resolve(page, target, "markdown");
              return address === undefined ? text : `${mark}[${text}](${address})`;
            },
          ),
    )
    .join("");
}
