import { escapeHtml } from "./escape-html.ts";
import { type Group, markdownPathOf, type Page, rootFrom } from "./page.ts";
import type { Heading } from "./render.ts";

/** Files that each page loads, relative to the site. */
export interface Assets {
  readonly style: string;
  /** Sets the colors before the page is drawn. */
  readonly theme: string;
  readonly script: string;
  readonly search: string;
}

export interface Site {
  readonly version: string;
  readonly groups: readonly Group[];
  /** The index of the API, and its areas. */
  readonly api: readonly Page[];
  readonly assets: Assets;
}

interface Content {
  readonly page: Page;
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** The whole document of a page. Addresses are relative, because the service may have a path prefix. */
export function layout(site: Site, { page, html, headings }: Content): string {
  const root = rootFrom(page);
  return shell(site, {
    root,
    title: page.title,
    about: page.about,
    body: `${sidebar(site, page, root)}
<main id="content" tabindex="-1">
<article>
${html}
</article>
${footer(site, page, root)}
</main>
${outline(page, headings)}`,
  });
}

/** The home page: the groups with their pages. */
export function homePage(site: Site, page: Page): string {
  const cards = [...site.groups, { name: "API", pages: site.api.slice(0, 1) }].map(
    ({ name, pages }) => `<section class="card"><h2>${escapeHtml(name)}</h2><ul>
${pages.map((each) => `<li>${linkTo(each, "")}${each.about === "" ? "" : `<span>${escapeHtml(each.about)}</span>`}</li>`).join("\n")}
</ul></section>`,
  );
  return shell(site, {
    root: "",
    title: page.title,
    about: page.about,
    body: `${sidebar(site, page, "")}
<main id="content" class="home" tabindex="-1">
<h1>Real browsers for AI agents</h1>
<p class="lead">Start here, or press <kbd>/</kbd> to search all pages, operations and settings.</p>
<p class="doors"><a class="door main" href="guide/install">Install</a> <a class="door" href="guide/sessions">First session</a> <a class="door" href="guide/mcp">MCP</a> <a class="door" href="api/">API reference</a></p>
<div class="cards">
${cards.join("\n")}
</div>
<footer class="foot"><p>For agents: <a href="../llms.txt">llms.txt</a>, and each page as Markdown at its address with <code>.md</code>.</p></footer>
</main>`,
  });
}

/** Stands for the address of the site in {@link notFoundPage}, which the service shows at any depth. */
const anyRoot = "SHOAL_DOCS/";

/** The page for unknown addresses. The service replaces `SHOAL_DOCS/` by the address of the site. */
export function notFoundPage(site: Site): string {
  return shell(site, {
    root: anyRoot,
    title: "Page not found",
    about: "",
    body: `${sidebar(site, undefined, anyRoot)}
<main id="content" tabindex="-1"><article>
<h1>Page not found</h1>
<p>The documentation has no page at this address. Search for it, or begin at the <a href="${anyRoot}">first page</a>.</p>
</article></main>`,
  });
}

interface Shell {
  readonly root: string;
  readonly title: string;
  readonly about: string;
  readonly body: string;
}

function shell({ assets, version }: Site, { about, body, root, title }: Shell): string {
  const service = root === "" ? "../" : `${root}../`;
  const heading = title === "" ? "Shoal documentation" : `${title} · Shoal`;
  return `<!doctype html>
<html lang="en" data-root="${root}" data-search="${assets.search}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(heading)}</title>
${about === "" ? "" : `<meta name="description" content="${escapeHtml(`${title}: ${about}`)}">\n`}<link rel="icon" type="image/svg+xml" href="${root}icon.svg">
<link rel="stylesheet" href="${root}${assets.style}">
<script src="${root}${assets.theme}"></script>
<script type="module" src="${root}${assets.script}"></script>
</head>
<body>
${root === anyRoot ? "" : '<a class="skip" href="#content">Skip to the content</a>\n'}<header class="bar">
<button class="icon menu" type="button" aria-label="Pages" aria-expanded="false" aria-controls="sidebar" hidden>☰</button>
<a class="name" href="${root === "" ? "./" : root}"><img src="${root}icon.svg" alt="" width="28" height="28"><span>Shoal docs</span></a>
<span class="version" title="Version of the service">${escapeHtml(version)}</span>
<button class="search" type="button" aria-keyshortcuts="/ Control+K" hidden>Search<kbd>/</kbd></button>
<nav aria-label="Service"><a href="${root}api/">API</a><a href="${service}console/">Console</a></nav>
<button class="icon scheme" type="button" hidden>◐</button>
</header>
<div class="columns">
${body}
</div>
</body>
</html>
`;
}

const linkTo = (page: Page, root: string, current?: Page) =>
  `<a href="${escapeHtml(root + page.path || "./")}"${page === current ? ' aria-current="page"' : ""}>${escapeHtml(page.title)}</a>`;

function sidebar({ api, groups }: Site, current: Page | undefined, root: string): string {
  const isInApi = current !== undefined && api.includes(current);
  const lists = [
    ...groups.map(({ name, pages }) => ({ name, pages: [...pages, ...(name === "Reference" ? api.slice(0, 1) : [])] })),
    ...(isInApi ? [{ name: "API", pages: api.slice(1) }] : []),
  ];
  // Next to a page of the API, its areas are what a person looks for.
  const ordered = isInApi ? lists.toReversed() : lists;
  const items = ordered.map(
    ({ name, pages }) =>
      `<h2>${escapeHtml(name)}</h2><ul>${pages.map((page) => `<li>${linkTo(page, root, current)}</li>`).join("")}</ul>`,
  );
  return `<nav id="sidebar" class="sidebar" aria-label="Pages">
${items.join("\n")}
</nav>`;
}

function outline(page: Page, headings: readonly Heading[]): string {
  const maxDepth = page.isReference ? 2 : 3;
  const shown = headings.filter(({ depth }) => depth > 1 && depth <= maxDepth);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}

function footer({ api, groups }: Site, page: Page, root: string): string {
  const order = [...groups.flatMap(({ pages }) => pages), ...api];
  const index = order.indexOf(page);
  const previous = index > 0 ? order[index - 1] : undefined;
  const next = index >= 0 ? order[index + 1] : undefined;
  return `<footer class="foot">
<nav aria-label="Previous and next page">${previous === undefined ? "" : `<span>← ${linkTo(previous, root)}</span>`}${next === undefined ? "" : `<span class="next">${linkTo(next, root)} →</span>`}</nav>
<p><a href="${escapeHtml(root + markdownPathOf(page))}">This page as Markdown</a></p>
</footer>`;
}
