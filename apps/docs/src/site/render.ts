import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml } from "./escape-html.ts";
import { highlight } from "./highlight.ts";
import type { Links } from "./links.ts";
import type { Page } from "./page.ts";

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

/** A heading with the text below it, for the search. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

/** Renders the Markdown of a page. Links to files that the site does not have become plain text. */
export function render(page: Page, links: Links): Rendered {
  const ids = new Ids(page.isReference);
  const headings: Heading[] = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, tokens }) {
        const text = textOf(tokens);
        const id = depth === 1 && page.isReference ? "top" : ids.add(text);
        headings.push({ id, text, depth });
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${escapeHtml(id)}">${inner}</h1>\n`;
        const label = escapeHtml(`Link to ${text}`);
        return `<h${depth} id="${escapeHtml(id)}">${inner} <a class="anchor" href="#${escapeHtml(id)}" aria-label="${label}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const address = links.resolve(page, href, "html");
        if (address === undefined) return inner;
        const rel = /^https?:/.test(address) ? ' rel="noreferrer"' : "";
        return `<a href="${escapeHtml(address)}"${rel}>${inner}</a>`;
      },
      image: ({ href, text }) => picture(links.resolve(page, href, "html"), text),
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
      code: ({ lang, text }) => codeBlock(text, (lang ?? "").split(" ", 1)[0] ?? ""),
      html: ({ text }) => withAddresses(text.replaceAll(/<!--[^]*?-->/g, ""), page, links),
      table(token) {
        return `<div class="table">${tableOf(token, (cell) => this.parser.parseInline(cell))}</div>\n`;
      },
    },
  });
  const tokens = marked.lexer(page.markdown);
  const html = marked.parser(tokens);
  links.addAnchors(
    page,
    headings.map(({ id }) => id),
  );
  return { html, headings, sections: sectionsOf(tokens, headings, page.isReference) };
}

/** Ids of headings: as GitHub makes them, or the names of operations and types in the reference. */
class Ids {
  readonly #counts = new Map<string, number>();
  readonly #areNames: boolean;
  constructor(areNames: boolean) {
    this.#areNames = areNames;
  }
  add(text: string): string {
    const slug = this.#areNames && /^[\w.]+$/.test(text) ? text : slugOf(text);
    const count = this.#counts.get(slug) ?? 0;
    this.#counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  }
}

const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

function codeBlock(code: string, language: string): string {
  const name = language === "" ? "" : ` data-language="${escapeHtml(language)}"`;
  return `<div class="code"${name}><pre><code>${highlight(code, language)}</code></pre></div>\n`;
}

/** Sizes are unknown, so pictures load at once: they would move the text later. */
const picture = (address: string | undefined, text: string) =>
  address === undefined ? escapeHtml(text) : `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}">`;

const withAddresses = (html: string, page: Page, links: Links) =>
  html.replaceAll(
    /\b(src|srcset|href)="([^"\s]+)"/g,
    (_attribute, name: string, target: string) => `${name}="${escapeHtml(links.resolve(page, target, "html") ?? "")}"`,
  );

function tableOf({ header, rows }: Tokens.Table, inline: (tokens: Token[]) => string): string {
  const head = header.map(({ tokens }) => (tokens.length === 0 ? "<td></td>" : `<th>${inline(tokens)}</th>`)).join("");
  const body = rows.map((row) => `<tr>${row.map(({ tokens }) => `<td>${inline(tokens)}</td>`).join("")}</tr>`);
  // Stacked on phones, where the last column would be outside of the screen.
  const isList = header.length > 2 && header.at(-1)?.text === "meaning";
  return `<table${isList ? ' class="fields"' : ""}><thead><tr>${head}</tr></thead><tbody>${body.join("\n")}</tbody></table>`;
}

/** The text of tokens without marks. */
function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === "table") {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map((cell) => textOf(cell.tokens)).join(" ")).join(" ");
      }
      if (token.type === "list") return (token as Tokens.List).items.map((item) => textOf(item.tokens)).join(" ");
      if (token.type === "html" || token.type === "space") return "";
      if (token.type === "br") return " ";
      const { text = "", tokens: inner } = token as { readonly text?: string; readonly tokens?: readonly Token[] };
      return inner === undefined ? text : textOf(inner);
    })
    .join("")
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => plainSigns[entity] ?? entity);
}

const plainSigns: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** In the reference, tables and examples repeat the same words, so only headings and sentences can be found. */
function sectionsOf(tokens: readonly Token[], headings: readonly Heading[], isReference: boolean): Section[] {
  const sections: { id: string; heading: string; texts: string[] }[] = [];
  let index = 0;
  for (const token of tokens) {
    if (token.type === "heading") {
      const heading = headings[index++];
      // Operations and types, not the parts of operations.
      if (heading === undefined || (isReference && heading.depth > 2 && !/^[A-Z]\w*$/.test(heading.id))) continue;
      sections.push({ id: heading.depth === 1 ? "" : heading.id, heading: heading.text, texts: [] });
    } else if (!isReference || token.type === "paragraph") sections.at(-1)?.texts.push(textOf([token]));
  }
  return sections.map(({ texts, ...section }) => ({
    ...section,
    text: texts.join(" ").replaceAll(/\s+/g, " ").trim(),
  }));
}
