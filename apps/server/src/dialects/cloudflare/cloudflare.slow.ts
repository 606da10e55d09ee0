import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RenderSite, startRenderSite } from "../../testing/render-site.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let shop: { id: string; key: string };
let site: RenderSite;
beforeAll(async () => {
  site = await startRenderSite();
  server = await startTestServer({ dialects: ["cloudflare"], allow_private_hosts: ["127.0.0.1"] });
  shop = await server.addProject("shop");
});
afterAll(async () => {
  await server.close();
  await site[Symbol.asyncDispose]();
});

const sessions = async () =>
  ((await server.request("GET", "/browsers", { key: shop.key })).body as unknown[]).map((one) => Browser.parse(one));

async function post(
  name: string,
  body: unknown,
  { headers = { authorization: `Bearer ${shop.key}` }, query = "" }: { headers?: HeadersInit; query?: string } = {},
) {
  const answer = await fetch(`${server.baseUrl}/cloudflare/accounts/f00d/browser-rendering/${name}${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
    body: JSON.stringify(body),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() };
}

async function resultOf(name: string, body: unknown): Promise<unknown> {
  const { text } = await post(name, body);
  const { result, ...rest } = JSON.parse(text) as { result: unknown };
  expect(rest).toEqual({ success: true, errors: [], messages: [] });
  return result;
}

describe("pages", () => {
  it("are HTML, Markdown and links, and leave no session", async () => {
    const page = { url: `${site.url}/page` };
    expect(await resultOf("content", page)).toContain('<p id="late">by script</p>');
    expect(await resultOf("markdown", page)).toContain("# Fish & chips");
    expect(await resultOf("links", page)).toEqual([`${site.url}/other`]);
    const html = `<base href="${site.url}"><a href="/in">in</a><a href="https://else.example/">out</a>`;
    expect(await resultOf("links", { html })).toEqual([`${site.url}/in`, "https://else.example/"]);
    expect(await sessions()).toEqual([]);
  });

  it("leave out links to other hosts", async () => {
    const page = { url: `${site.url}/page`, excludeExternalLinks: true };
    expect(await resultOf("links", page)).toEqual([`${site.url}/other`]);
    const html = { html: `<a href="https://else.example/">out</a>`, excludeExternalLinks: true };
    expect(await resultOf("links", html)).toEqual([]);
  });

  it("are elements", async () => {
    const elements = [{ selector: "h1" }, { selector: ".none" }];
    expect(await resultOf("scrape", { url: `${site.url}/page`, elements })).toMatchObject([
      {
        selector: "h1",
        results: [
          {
            text: "Fish & chips",
            html: "Fish &amp; chips",
            attributes: [
              { name: "class", value: "title" },
              { name: "data-kind", value: "big" },
            ],
            left: expect.any(Number) as unknown,
          },
        ],
      },
      { selector: ".none", results: [] },
    ]);
  });

  it("are pictures and documents", async () => {
    // Longer than the usual 30 s, for slow machines.
    const gotoOptions = { timeout: 120_000 };
    const picture = await post("screenshot", {
      html: "x",
      gotoOptions,
      viewport: { width: 320, height: 240 },
      screenshotOptions: { type: "png" },
    });
    expect(picture.headers.get("content-type")).toBe("image/png");
    expect([picture.bytes.readUInt32BE(16), picture.bytes.readUInt32BE(20)]).toEqual([320, 240]);
    const pdf = await post("pdf", {
      html: "x",
      gotoOptions,
      pdfOptions: { format: "a4", margin: { top: "1cm", right: "10mm", bottom: "10mm", left: "1cm" } },
    });
    expect([pdf.headers.get("content-type"), pdf.text.slice(0, 5)]).toEqual(["application/pdf", "%PDF-"]);
  });

  it("get the options of Puppeteer", async () => {
    const added = await resultOf("markdown", {
      html: "<p>x</p>",
      addScriptTag: [{ content: "document.body.append('by script')" }],
      rejectRequestPattern: ["\\.css$"],
    });
    expect(added).toContain("by script");
    const picture = await post("screenshot", {
      html: "<p>x</p>",
      screenshotOptions: { clip: { x: 0, y: 0, width: 60, height: 40 }, encoding: "base64" },
    });
    expect(Buffer.from(picture.text, "base64").readUInt32BE(16)).toBe(60);
    const pdf = await post("pdf", {
      html: "x",
      pdfOptions: { width: "4in", height: "6in", displayHeaderFooter: true, headerTemplate: "<b>x</b>" },
    });
    expect(pdf.text.slice(0, 5)).toBe("%PDF-");
  });

  it("are a snapshot with the formats that are requested", async () => {
    const both = (await resultOf("snapshot", { html: "<p>x</p>" })) as { content: string; screenshot: string };
    expect(Object.keys(both)).toEqual(["content", "screenshot"]);
    expect(both.content).toContain("<p>x</p>");
    expect(Buffer.from(both.screenshot, "base64").subarray(1, 4).toString()).toBe("PNG");
    expect(await resultOf("snapshot", { html: "<h1>x</h1>", formats: ["markdown"] })).toEqual({ markdown: "# x\n" });
  });

  it("report fields without effect", async () => {
    const { headers, status } = await post(
      "content",
      { html: "x", rejectResourceTypes: ["xhr"], actionTimeout: 5000 },
      { query: "?cacheTTL=60" },
    );
    expect([status, headers.get("x-shoal-ignored-fields")]).toEqual([200, "body.rejectResourceTypes, query.cacheTTL"]);
  });

  it.each([
    ["no page", "content", {}, 400],
    ["both pages", "content", { url: "https://a.example", html: "x" }, 400],
    ["a file", "content", { url: "file:///etc/passwd" }, 400],
    ["cloud metadata", "content", { url: "http://169.254.169.254/" }, 409],
    ["only certain requests", "content", { html: "x", allowRequestPattern: ["a"] }, 501],
    ["only certain types", "content", { html: "x", allowResourceTypes: ["document"] }, 501],
    ["a script of a file", "markdown", { html: "x", addScriptTag: [{ url: "file:///etc/passwd" }] }, 400],
    ["visible links", "links", { html: "x", visibleLinksOnly: true }, 501],
    ["a clip without sizes", "screenshot", { html: "x", screenshotOptions: { clip: {} } }, 400],
    ["a missing element", "screenshot", { html: "x", selector: "#none" }, 404],
    ["the accessibility tree", "snapshot", { html: "x", formats: ["accessibilityTree"] }, 501],
    ["data of a model", "json", { html: "x", prompt: "y" }, 501],
    ["a crawl", "crawl", { url: "https://a.example" }, 501],
    ["another path", "nothing", {}, 404],
  ])("are refused with a sentence: %s", async (_what, name, body, status) => {
    const answer = await post(name, body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      status,
      {
        success: false,
        errors: [{ code: status, message: expect.any(String) as unknown }],
        messages: [],
        result: null,
      },
    ]);
  });
});

describe("the key", () => {
  it("is a token or X-Auth-Key, and no log has it", async () => {
    const legacy = {
      "x-auth-email": "ann@shop.example",
      "x-auth-key": shop.key,
      "x-auth-user-service-key": "other-one",
    };
    expect((await post("content", { html: "x" }, { headers: legacy })).status).toBe(200);
    const twoKeys = { authorization: `Bearer ${shop.key}`, "x-auth-key": "another" };
    expect((await post("content", { html: "x" }, { headers: twoKeys })).status).toBe(400);
    const refused = await post("content", { html: "x" }, { headers: { authorization: "Bearer wrong" } });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      401,
      { success: false, errors: [{ code: 401 }] },
    ]);
    expect(server.log()).not.toContain(shop.key);
    expect(server.log()).not.toContain("other-one");
  });

  it("describes its interface without a key", async () => {
    const document = (await (await fetch(`${server.baseUrl}/cloudflare/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain("/cloudflare/accounts/{account_id}/browser-rendering/snapshot");
  });
});
