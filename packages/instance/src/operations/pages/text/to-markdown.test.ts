import type { ElementContent, Root } from "hast";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { findMainContent, fromDom } from "./main-content.ts";
import { readableText } from "./readable-text.ts";
import { toMarkdown } from "./to-markdown.ts";

function treeOf(html: string): Root {
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  const children: ElementContent[] = fromDom(document.body);
  return { type: "root", children };
}

const convert = (html: string): string => toMarkdown(treeOf(html));

describe("Markdown", () => {
  it.each([
    [
      "nested lists",
      "<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul><p>x</p><ol start=3><li>e</li></ol>",
      "- a\n  1. b\n  2. c\n- d\n\nx\n\n3. e\n",
    ],
    ["paragraphs in items", "<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c\n"],
    ["a table with pipes", "<table><tr><th>A</th></tr><tr><td>x | y</td></tr></table>", "| A |\n| - |\n| x \\| y |\n"],
    ["code with fences", "<pre><code class=language-md>```\nx\n```</code></pre>", "````md\n```\nx\n```\n````\n"],
    ["inline code with ticks", "<p><code>a ` b</code></p>", "``a ` b``\n"],
    ["quotes", "<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b\n"],
    ["Chinese and Japanese", "<p>漢字<b>太字</b>です。</p>", "漢字**太字**です。\n"],
    [
      "a link around blocks",
      "<a href='https://a.example/'><h2>T</h2><p>x</p></a>",
      "## [T](https://a.example/)\n\n[x](https://a.example/)\n",
    ],
    ["definitions", "<dl><dt>Term</dt><dd>Meaning</dd></dl>", "- Term\n\n  Meaning\n"],
    ["deleted text", "<p><del>old</del> new</p>", "~~old~~ new\n"],
  ])("contains %s", (_kind, html, markdown) => {
    expect(convert(html)).toBe(markdown);
  });

  it.each([
    ["a heading", "<p># not a heading</p>", "\\# not a heading\n"],
    ["a link", "<p>[click](https://evil.example)</p>", "\\[click]\\(https://evil.example)\n"],
    ["a fence", "<p>```</p><p>x</p>", "\\`\\`\\`\n\nx\n"],
    ["a list", "<p>- a<br>1. b</p>", "\\- a\\\n1\\. b\n"],
    ["markup", "<p>&lt;script&gt; &amp;amp;</p>", "\\<script> \\&amp;\n"],
  ])("escapes text that looks like %s", (_kind, html, markdown) => {
    expect(convert(html)).toBe(markdown);
  });
});

describe("main content", () => {
  const text = "A long sentence of the text, with commas, and words. ".repeat(8);
  it.each([
    ["its main element", `<nav>Menu</nav><main><p>${text}</p></main><footer>Imprint</footer>`],
    ["its only article", `<nav>Menu</nav><article><p>${text}</p></article><footer>Imprint</footer>`],
    [
      "the part with most text",
      `<div class=menu><a href=/>Menu</a></div><div class=post>${`<p>${text}</p>`.repeat(4)}</div><div class=footer>Imprint</div>`,
    ],
    [
      "all but landmarks",
      `<nav>Menu</nav><h1>Hi</h1><ul>${`<li><a href=/x>${text}</a></li>`.repeat(3)}</ul><footer>Imprint</footer>`,
    ],
  ])("is %s", (_kind, html) => {
    const markdown = toMarkdown(findMainContent(treeOf(html)));
    expect(markdown).toContain("A long sentence");
    expect(markdown).not.toContain("Menu");
    expect(markdown).not.toContain("Imprint");
  });

  it("is the whole page if no part of it stands out", () => {
    const html = "<nav>Menu with words</nav><p>Short.</p>";
    expect(toMarkdown(findMainContent(treeOf(html)))).toContain("Menu with words");
  });
});

it("removes characters that carry hidden text", () => {
  expect(readableText("a\u{E0041}\u{200B}b\u{202E}c\u{FE01}d\u{AD}")).toBe("abcd");
  expect(readableText("👩‍👩‍👧 ❤️ می‌خواهم")).toBe("👩‍👩‍👧 ❤️ می‌خواهم");
});
