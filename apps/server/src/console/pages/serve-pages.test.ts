import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(server.baseUrl + path, { headers: { accept: "text/html", ...headers }, redirect: "manual" });

const assetIn = (html: string, ending: string) =>
  new RegExp(`"\\./(assets/[^"]+\\.${ending})"`).exec(html)?.[1] ?? "missing";

it("redirects a browser from / to the console, and answers programs as before", async () => {
  const redirect = await get("/");
  expect([redirect.status, redirect.headers.get("location")]).toEqual([302, `${server.baseUrl}/console/`]);
  expect((await get("/console")).headers.get("location")).toBe(`${server.baseUrl}/console/`);
  const json = await get("/", { accept: "application/json" });
  expect([json.status, json.headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
});

it("serves the page with a strict policy and a new nonce each time", async () => {
  const page = await get("/console/");
  const html = await page.text();
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "cache-control": "no-store",
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/]{24}'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; frame-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'$/,
  );
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
  expect(html).toContain(`nonce="${nonce}"`);
  expect(html).not.toMatch(/SHOAL_NONCE|<style|<script(?![^>]* src=)|https?:\/\//);
  expect((await get("/console/sessions/x")).headers.get("content-security-policy")).not.toContain(nonce);
});

it("serves files immutable, and the page for every other address", async () => {
  const html = await (await get("/console/sessions/b1?tab=files")).text();
  expect(html).toContain('<base href="/console/" />');
  const script = `/console/${assetIn(html, "js")}`;
  const plain = await get(script, { accept: "*/*", "accept-encoding": "identity" });
  expect([plain.headers.get("cache-control"), plain.headers.get("content-type"), plain.headers.get("vary")]).toEqual([
    "public, max-age=31536000, immutable",
    "text/javascript; charset=utf-8",
    "accept-encoding",
  ]);
  const missing = await get("/console/assets/old.js");
  expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([404, "not_found"]);
  for (const path of ["/console/..%2f..%2fpackage.json", "/console/assets/..%2f..%2f..%2fpackage.json"])
    expect(await (await get(path)).text()).not.toContain('"dependencies"');
});

it("names its files below the path prefix of public_url, and allows the content origin", async () => {
  const prefixed = await startTestServer({
    public_url: "https://shoal.example/api",
    content_url: "https://content.example",
  });
  const page = await fetch(`${prefixed.baseUrl}/console/`, { headers: { accept: "text/html" } });
  expect(await page.text()).toContain('<base href="/api/console/" />');
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("connect-src 'self' https://content.example wss://content.example;");
  expect(policy).toContain("img-src 'self' data: blob: https://content.example;");
  await prefixed.close();
});
