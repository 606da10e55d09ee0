import Fastify, { type FastifyInstance } from "fastify";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startTestServer } from "../testing/test-server.ts";
import { serveDocs } from "./serve-docs.ts";

let folder: string;
let app: FastifyInstance;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-docs-"));
  app = Fastify();
  serveDocs(app, { origins: { baseUrlOf: () => "https://shoal.example/api" }, folder: join(folder, "site") });
});
afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const site = {
  "index.html": "<h1>Home</h1>",
  "README.md": "# Home",
  "404.html": '<h1>Page not found</h1><a href="SHOAL_DOCS/">first page</a>',
  "guide/index.html": "<h1>The guide</h1>",
  "guide/README.md": "# The guide",
  "guide/files.html": "<h1>Files</h1>",
  "guide/files.md": "# Files",
  "service/nginx.conf": "server {}",
  "assets/main-ABC.js": "export {};",
};

function build(): void {
  for (const [name, text] of Object.entries(site)) {
    const path = join(folder, "site", `${name}.br`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, brotliCompressSync(text));
  }
  writeFileSync(join(folder, "site/picture.webp"), "picture");
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  app.inject({ url: path, headers: { accept: "text/html", ...headers } });

it("serves pages without an extension, with a policy that blocks inline scripts and styles", async () => {
  build();
  const page = await get("/docs/guide/files");
  expect([page.statusCode, page.body]).toEqual([200, site["guide/files.html"]]);
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    vary: "accept, accept-encoding",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  expect((await get("/docs/")).body).toBe(site["index.html"]);
  expect((await get("/docs/guide/")).body).toBe(site["guide/index.html"]);
});

it("serves each page as Markdown, at its address with .md and for agents that accept it", async () => {
  build();
  for (const [path, accept, text] of [
    ["/docs/guide/files.md", "*/*", site["guide/files.md"]],
    ["/docs/guide/files", "text/markdown, text/html, */*", site["guide/files.md"]],
    ["/docs/guide/", "text/markdown", site["guide/README.md"]],
    ["/docs/", "text/markdown", site["README.md"]],
  ] as const) {
    const { body, headers } = await get(path, { accept });
    expect([path, body, headers["content-type"]]).toEqual([path, text, "text/markdown; charset=utf-8"]);
  }
});

it("sends Brotli to clients that accept it, and answers 304 to a known version", async () => {
  build();
  for (const [accepted, coding] of [
    ["gzip, deflate, br", "br"],
    ["br;q=0, gzip", undefined],
    ["identity", undefined],
  ] as const) {
    const { headers, rawPayload } = await get("/docs/guide/files", { "accept-encoding": accepted });
    expect(headers["content-encoding"]).toBe(coding);
    const plain = coding === undefined ? rawPayload : brotliDecompressSync(rawPayload);
    expect(plain.toString()).toBe(site["guide/files.html"]);
  }
  const { etag = "" } = (await get("/docs/guide/files")).headers;
  const again = await get("/docs/guide/files", { "if-none-match": etag });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
});

it("serves other files as what they are, and hashed ones immutable", async () => {
  build();
  for (const [path, type, caching] of [
    ["/docs/assets/main-ABC.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"],
    ["/docs/service/nginx.conf", "text/plain; charset=utf-8", "no-cache"],
    ["/docs/picture.webp", "image/webp", "no-cache"],
  ]) {
    const { headers, statusCode } = await get(path ?? "");
    expect([path, statusCode, headers["content-type"], headers["cache-control"]]).toEqual([path, 200, type, caching]);
  }
});

it("redirects to addresses below the path prefix of the service", async () => {
  build();
  for (const [path, target] of [
    ["/docs", "https://shoal.example/api/docs/"],
    ["/docs/guide", "https://shoal.example/api/docs/guide/"],
  ]) {
    const { headers, statusCode } = await get(path ?? "");
    expect([statusCode, headers.location]).toEqual([302, target]);
  }
});

it("answers 404 for unknown pages and paths of the disk: a page to people, an error to programs", async () => {
  build();
  const page = await get("/docs/guide/missing");
  expect([page.statusCode, page.body]).toEqual([404, '<h1>Page not found</h1><a href="/api/docs/">first page</a>']);
  expect(page.headers).toMatchObject({ "cache-control": "no-store", "x-frame-options": "DENY" });
  for (const path of ["/docs/..%2f..%2fsecret", "/docs/guide/..%2findex.html", "/docs/index.html", "/docs/%2e%2e/x"])
    expect([path, (await get(path)).statusCode]).toEqual([path, 404]);
  const refusal = await get("/docs/guide/missing", { accept: "application/json" });
  expect([refusal.statusCode, refusal.json<{ message: string }>().message]).toEqual([
    404,
    "The documentation has no page /docs/guide/missing. /docs/README.md lists all pages.",
  ]);
});

it("answers only GET and HEAD", async () => {
  build();
  const head = await app.inject({ method: "HEAD", url: "/docs/guide/files" });
  expect([head.statusCode, head.body]).toEqual([200, ""]);
  for (const method of ["POST", "PUT", "DELETE"] as const)
    expect((await app.inject({ method, url: "/docs/guide/files" })).statusCode).toBe(404);
});

it("says how to build the site, and serves it as soon as it is built", async () => {
  const page = await get("/docs/");
  expect([page.statusCode, page.body.includes("npm run docs")]).toEqual([404, true]);
  expect((await get("/docs/guide/files", { accept: "*/*" })).json<{ message: string }>().message).toContain(
    "not built",
  );
  build();
  expect((await get("/docs/")).statusCode).toBe(200);
});

it("is a part of the service, without a key, and the page for agents links to it", async () => {
  const server = await startTestServer({ public_url: "https://shoal.example/api" });
  try {
    const redirect = await fetch(`${server.baseUrl}/docs`, { redirect: "manual" });
    expect(redirect.headers.get("location")).toBe("https://shoal.example/api/docs/");
    const text = await (await fetch(`${server.baseUrl}/llms.txt`)).text();
    expect(text).toContain("](https://shoal.example/api/docs/guide/install.md)");
    expect(text).not.toContain("](docs/");
  } finally {
    await server.close();
  }
});
