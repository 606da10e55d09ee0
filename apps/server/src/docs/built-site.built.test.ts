import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { startTestServer } from "../testing/test-server.ts";

const folder = join(import.meta.dirname, "../../dist/pages/docs");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
const textOf = (path: string) => brotliDecompressSync(readFileSync(join(folder, path))).toString("utf8");

it("has no inline scripts and styles, which the policy blocks, and names no other site as a part of a page", () => {
  const pages = files.filter((path) => path.endsWith(".html.br"));
  expect(pages.length).toBeGreaterThan(80);
  for (const page of pages)
    expect([
      page,
      /<style|<[a-z][^<>]*\s(?:style|on\w+)=|<script(?![^>]* src=)|<[a-z][^<>]*\s(?:src|srcset)="(?:https?:)?\/\//.exec(
        textOf(page),
      ),
    ]).toEqual([page, null]);
});

it("has each page as Markdown too, without links to missing files", () => {
  const known = new Set(files.map((path) => path.replace(/\.br$/, "").replaceAll("\\", "/")));
  const broken = [...known]
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) =>
      [
        ...textOf(`${path}.br`)
          .replaceAll(/^```[^]*?^```$/gm, "")
          .matchAll(/\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g),
      ].flatMap(([, target = ""]) => {
        const found = join(path, "..", target).replaceAll("\\", "/");
        return known.has(found) || found === "../openapi.json" ? [] : [`${path}: ${target}`];
      }),
    );
  expect(broken).toEqual([]);
  const withoutMarkdown = [...known].filter(
    (path) =>
      path.endsWith(".html") &&
      path !== "404.html" &&
      !known.has(path.replace(/index\.html$/, "README.html").replace(/\.html$/, ".md")),
  );
  expect(withoutMarkdown).toEqual([]);
});

it("is served with the version and the links of the service", async () => {
  const server = await startTestServer({ public_url: "https://shoal.example/api" });
  try {
    const links = (await (await fetch(`${server.baseUrl}/llms.txt`)).text()).matchAll(
      /\]\(https:\/\/shoal\.example\/api(\/docs\/[^)]+)\)/g,
    );
    const paths = [...links].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      const answer = await fetch(server.baseUrl + path);
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/markdown; charset=utf-8",
      ]);
    }
    const missing = await fetch(`${server.baseUrl}/docs/guide/missing`, { headers: { accept: "text/html" } });
    expect(missing.status).toBe(404);
    const html = await missing.text();
    expect(html).toContain('href="/api/docs/guide/install"');
    expect(html).not.toContain("SHOAL_DOCS");
  } finally {
    await server.close();
  }
});
