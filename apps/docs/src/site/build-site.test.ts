import { expect, it } from "vitest";
import { buildSite } from "./build-site.ts";
import type { Page } from "./page.ts";

const assets = { style: "assets/s.css", theme: "assets/t.js", script: "assets/m.js", search: "assets/i.json" };

function pageOf(path: string, markdown: string, given: Partial<Page> = {}): Page {
  const source = `docs/${path === "" || path.endsWith("/") ? `${path}README` : path}.md`;
  return { path, source, title: path, about: "", markdown, isReference: false, ...given };
}

function build(pages: readonly Page[], files: readonly string[] = []) {
  const site = buildSite({
    version: "1.2.3",
    groups: [{ name: "Start", pages }],
    others: [],
    api: [],
    home: pageOf("", "# Documentation"),
    files,
    exists: (path) => path === "apps/server/src/x.test.ts",
  });
  return { search: site.search, pages: site.pages(assets) };
}

it("links pages with relative addresses, so that the site works below any path", () => {
  const { pages } = build(
    [
      pageOf(
        "guide/files",
        "# Files\n\n[settings](../settings.md#flags), [picture](../images/a.webp), [contract](../../openapi.json)",
      ),
      pageOf("settings", "# Settings\n\n## Flags\n\n[files](guide/files.md), ![a](images/a.webp)"),
    ],
    ["images/a.webp"],
  );
  const files = pages.get("guide/files.html") ?? "";
  expect(files).toContain('<a href="../settings#flags">settings</a>');
  expect(files).toContain('<a href="../images/a.webp">picture</a>');
  expect(files).toContain('<a href="../../openapi.json">contract</a>');
  expect(files).toContain('<link rel="stylesheet" href="../assets/s.css">');
  const settings = pages.get("settings.html") ?? "";
  expect(settings).toContain('<a href="guide/files">files</a>');
  expect(settings).toContain('<img src="images/a.webp" alt="a">');
  for (const html of pages.values()) expect(html).not.toMatch(/(?:href|src)="\/|<script>| style=|<style/);
});

it("shows links to sources as text, in HTML and in Markdown", () => {
  const { pages } = build([
    pageOf(
      "threats",
      "# Threats\n\n[a test](../apps/server/src/x.test.ts) and [itself](threats.md)\n\n```md\n[kept](x.md)\n```",
    ),
  ]);
  expect(pages.get("threats.html")).toContain("<p>a test and <a");
  expect(pages.get("threats.md")).toBe("# Threats\n\na test and [itself](threats.md)\n\n```md\n[kept](x.md)\n```");
});

it.each([
  ["a missing page", "[x](missing.md)", "docs/a.md: missing.md does not exist"],
  ["a missing heading", "[x](#nothing)", "docs/a.md: docs/a.md has no heading #nothing"],
  ["a missing picture", "![x](images/none.webp)", "docs/a.md: images/none.webp does not exist"],
  ["a missing file in HTML", '<img src="none.png" alt="x">', "docs/a.md: none.png does not exist"],
])("fails for %s", (_kind, link, message) => {
  expect(() => build([pageOf("a", `# A\n\n${link}`)])).toThrow(message);
});

it("numbers repeated headings as GitHub does, and keeps names of operations in the reference", () => {
  const text = "# A\n\n## Use `x_y`, now\n\n## Use `x_y`, now\n\n[first](#use-x_y-now) [second](#use-x_y-now-1)";
  expect(build([pageOf("a", text)]).pages.get("a.html")).toContain('<h2 id="use-x_y-now-1">');
  const reference = pageOf("api/b", "# B\n\n## browsers.create\n\n[it](#browsers.create)", { isReference: true });
  expect(build([reference]).pages.get("api/b.html")).toContain('<h2 id="browsers.create">');
});

it("escapes texts, and marks code without styles in attributes", () => {
  const html = build([
    pageOf("a", '# A\n\n`<b>` & <!-- a note -->\n\n```ts\nconst a = "<script>";\n```\n\n```haproxy\nbind <x>\n```', {
      title: 'A "<i>"',
    }),
  ]).pages.get("a.html");
  expect(html).toContain("<title>A &quot;&lt;i&gt;&quot; · Shoal</title>");
  expect(html).toContain('<span class="hljs-keyword">const</span>');
  expect(html).toContain("bind &lt;x&gt;");
  expect(html).not.toContain("a note");
});

it("shows lists of tasks without controls, which have no label", () => {
  expect(build([pageOf("a", "# A\n\n- [ ] backup\n- [x] key")]).pages.get("a.html")).toMatch(/☐ \s*backup[^]*☑ \s*key/);
});

it("shows a table's empty header as a cell, because a header needs a text", () => {
  const html = build([pageOf("a", "# A\n\n| k | |\n| - | - |\n| x | y |")]).pages.get("a.html");
  expect(html).toContain("<tr><th>k</th><td></td></tr>");
});

it("indexes each heading with the text below it", () => {
  const { search } = build([
    pageOf("a", "# A\n\nFirst **text**.\n\n## Tables\n\n| k | v |\n| - | - |\n| `port` | 7 |"),
  ]);
  expect(JSON.parse(search)).toEqual({
    pages: [["a", "a", "Start"]],
    sections: [
      [0, "", "A", "First text."],
      [0, "tables", "Tables", "k v port 7"],
    ],
  });
});
