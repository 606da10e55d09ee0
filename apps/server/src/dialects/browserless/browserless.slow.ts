import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { type RenderSite, startRenderSite } from "../../testing/render-site.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let shop: { id: string; key: string };
let site: RenderSite;
beforeAll(async () => {
  site = await startRenderSite();
  server = await startTestServer({ dialects: ["browserless"], allow_private_hosts: ["127.0.0.1"] });
  shop = await server.addProject("shop");
});
afterAll(async () => {
  await server.close();
  await site[Symbol.asyncDispose]();
});

const sessions = async () =>
  ((await server.request("GET", "/browsers", { key: shop.key })).body as unknown[]).map((one) => Browser.parse(one));

/** As clients send it: with the key in the address. */
async function post(path: string, body: unknown, query = "") {
  const answer = await fetch(`${server.baseUrl}/browserless${path}?token=${shop.key}${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() };
}

describe("pages", () => {
  it.each(["", "/chromium", "/chrome"])(
    "are answered as HTML below %j, with the response of the page",
    async (place) => {
      const answer = await post(`${place}/content`, {
        url: `${site.url}/moved`,
        gotoOptions: { waitUntil: "networkidle2" },
      });
      expect(answer.text).toContain('<p id="late">by script</p>');
      expect(answer.headers.get("content-type")).toBe("text/html");
      expect(answer.headers.get("x-response-code")).toBe("200");
      expect(answer.headers.get("x-response-status")).toBe("OK");
      expect(answer.headers.get("x-response-url")).toBe(`${site.url}/page`);
      expect(await sessions()).toEqual([]);
    },
  );

  it("are pictures and documents", async () => {
    const html = "<p id=a style='width:50px;height:20px'>x</p>";
    const picture = await post("/screenshot", {
      html,
      options: { type: "jpeg", quality: 40 },
      viewport: { width: 300, height: 200 },
    });
    expect(picture.headers.get("content-type")).toBe("image/jpeg");
    expect(picture.bytes.subarray(0, 3).toString("hex")).toBe("ffd8ff");
    const page = await post("/content", { html: "<script>document.title = 1</script>" });
    expect(page.headers.get("content-security-policy")).toBe("sandbox");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    const element = await post("/screenshot", { html, selector: "#a" });
    expect([element.bytes.readUInt32BE(16), element.bytes.readUInt32BE(20)]).toEqual([50, 20]);
    const launch = btoa(JSON.stringify({ defaultViewport: { width: 320, height: 240 }, args: ["--no-sandbox"] }));
    const sized = await post("/screenshot", { html }, `&launch=${encodeURIComponent(launch)}`);
    expect([sized.bytes.readUInt32BE(16), sized.bytes.readUInt32BE(20)]).toEqual([320, 240]);
    const pdf = await post("/pdf", {
      html,
      options: {
        format: "a4",
        margin: { top: "1cm", right: "10mm", bottom: "10mm", left: "1cm" },
        printBackground: true,
      },
    });
    expect(pdf.headers.get("content-type")).toBe("application/pdf");
    expect(pdf.text.startsWith("%PDF-")).toBe(true);
  });

  it("are scraped", async () => {
    const answer = await post("/scrape", {
      url: `${site.url}/page`,
      elements: [{ selector: "h1" }, { selector: ".none" }],
    });
    expect(JSON.parse(answer.text)).toMatchObject({
      data: [
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
              top: expect.any(Number) as unknown,
            },
          ],
        },
        { selector: ".none", results: [] },
      ],
      debug: null,
    });
  });

  it("get the fields of the vendor", async () => {
    const answer = await post("/content", {
      url: `${site.url}/headers`,
      setExtraHTTPHeaders: { "x-mine": "one" },
      cookies: [{ name: "a", value: "b", url: site.url }],
      userAgent: { userAgent: "Mine/2" },
      gotoOptions: { referer: "https://from.example/" },
      rejectResourceTypes: ["image", "xhr"],
      waitForSelector: { selector: "#headers", visible: true, timeout: 60_000 },
      waitForTimeout: 10,
    });
    expect(answer.headers.get("x-shoal-ignored-fields")).toContain("body.rejectResourceTypes");
    expect(answer.text).toContain('"x-mine":"one"');
    expect(answer.text).toContain('"cookie":"a=b"');
    expect(answer.text).toContain('"user-agent":"Mine/2"');
    expect(answer.text).toContain("https://from.example/");
    const auth = await post("/content", {
      url: `${site.url}/secret`,
      authenticate: { username: "me", password: "pass" },
    });
    expect(auth.text).toContain("the secret");
    // Enough on a busy machine; the test waits for its end.
    const limitMs = 8_000;
    const limit = `&timeout=${String(limitMs)}`;
    const cut = await post("/content", { url: `${site.url}/endless`, bestAttempt: true }, limit);
    expect(cut.text).toContain("begun");
  });

  it("get styles and scripts that the request adds, before conditions of its functions and events", async () => {
    const answer = await post("/content", {
      url: `${site.url}/page`,
      addStyleTag: [{ content: "h1 { letter-spacing: 7px }" }],
      addScriptTag: [
        { content: "document.title = getComputedStyle(document.querySelector('h1')).letterSpacing" },
        { url: "data:text/javascript,setTimeout(()=>{window.ready=1;document.dispatchEvent(new Event('done'))},300)" },
      ],
      waitForFunction: { fn: "() => window.ready === 1", timeout: 5000 },
    });
    expect(answer.text).toContain("<title>7px</title>");
    const event = await post("/content", {
      html: "<script>setInterval(() => { document.body.id = 'after'; document.dispatchEvent(new Event('done')) }, 300)</script>",
      waitForEvent: { event: "done" },
    });
    expect(event.text).toContain('<body id="after">');
    const expression = await post("/content", {
      html: "<script>setTimeout(() => { a = 1 }, 200)</script>",
      waitForFunction: { fn: "window.a === 1" },
    });
    expect(expression.status).toBe(200);
  });

  it("are loaded without blocked requests, and with answers of the caller", async () => {
    const html = `<img src="${site.url}/blocked.png" onerror="document.title += 'blocked'">
<script>fetch("${site.url}/price").then((answer) => answer.text()).then((text) => { document.body.dataset.price = text })</script>`;
    const answer = await post("/content", {
      html,
      rejectRequestPattern: ["/blocked\\.png$"],
      requestInterceptors: [
        {
          pattern: "/price$",
          response: { contentType: "text/plain", headers: { "access-control-allow-origin": "*" }, body: "12 €" },
        },
      ],
      waitForFunction: { fn: "() => document.title && document.body.dataset.price" },
    });
    expect(answer.text).toContain("<title>blocked</title>");
    expect(answer.text).toContain('data-price="12 €"');
  });

  it("are a part of the page, base64, and emulated devices", async () => {
    const html =
      "<meta name=viewport content='width=device-width'><p id=a>x</p><script>document.title = matchMedia('(pointer: coarse)').matches</script>";
    const clip = { x: 10, y: 2000, width: 120, height: 80 };
    const clipped = await post("/screenshot", { html: `${html}<div style='height: 3000px'></div>`, options: { clip } });
    expect([clipped.bytes.readUInt32BE(16), clipped.bytes.readUInt32BE(20)]).toEqual([120, 80]);
    const text = await post("/screenshot", { html, options: { encoding: "base64" } });
    expect([text.status, text.text.slice(0, 8)]).toEqual([200, "iVBORw0K"]);
    const viewport = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
    const phone = await post("/content", { html, viewport });
    expect(phone.text).toContain("<title>true</title>");
  });

  it("are printed on any paper, with any margins, headers and footers", async () => {
    const boxOf = async (options: object) => {
      const { text } = await post("/pdf", { html: "<p>x</p>", options });
      return /\/MediaBox ?\[([^\]]*)\]/
        .exec(text)?.[1]
        ?.trim()
        .split(/\s+/)
        .map((side) => Math.round(Number(side)));
    };
    expect(await boxOf({ width: "10cm", height: "5cm", margin: { top: "1cm", left: 5 } })).toEqual([0, 0, 284, 142]);
    expect(await boxOf({ format: "A6" })).toEqual([0, 0, 298, 420]);
    expect(await boxOf({})).toEqual([0, 0, 612, 792]);
    const bare = await post("/pdf", { html: "<p>x</p>", options: { format: "a4", tagged: false } });
    const footed = await post("/pdf", {
      html: "<p>x</p>",
      options: {
        format: "a4",
        tagged: false,
        displayHeaderFooter: true,
        footerTemplate: "<b style='font-size:20px'>page <span class=pageNumber></span></b>",
        margin: { bottom: "2cm" },
      },
    });
    expect(footed.bytes.length).toBeGreaterThan(bare.bytes.length);
  });

  it.each([
    ["invalid JSON", "/content", "{", 400],
    ["no page", "/content", {}, 400],
    ["both pages", "/content", { url: "https://a.example", html: "x" }, 400],
    ["a file", "/content", { url: "file:///etc/passwd" }, 400],
    ["cloud metadata", "/content", { url: "http://169.254.169.254/" }, 409],
    ["a missing element", "/screenshot", { html: "x", selector: "#none" }, 404],
    ["a clip without sizes", "/screenshot", { html: "x", options: { clip: {} } }, 400],
    ["a huge clip", "/screenshot", { html: "x", options: { clip: { x: 0, y: 0, width: 1e6, height: 1 } } }, 400],
    ["a script of a file", "/content", { html: "x", addScriptTag: [{ url: "file:///etc/passwd" }] }, 400],
    ["a style of a file", "/content", { html: "x", addStyleTag: [{ url: "file:///etc/passwd" }] }, 400],
    ["a path of the service", "/content", { html: "x", addScriptTag: [{ path: "/etc/passwd" }] }, 400],
    ["a script of cloud metadata", "/content", { html: "x", addScriptTag: [{ url: "http://169.254.169.254/" }] }, 400],
    ["a wrong pattern", "/content", { html: "x", rejectRequestPattern: ["("] }, 400],
    ["no function", "/content", { html: "x", waitForFunction: { fn: "() => {" } }, 400],
    [
      "an endless wait",
      "/content",
      { html: "x", waitForFunction: { fn: "() => false" }, gotoOptions: { timeout: 2000 } },
      409,
    ],
    ["a huge paper", "/pdf", { html: "x", options: { width: "9999in" } }, 400],
    ["a paper of another unit", "/pdf", { html: "x", options: { width: "5pt" } }, 400],
    ["an unknown paper", "/pdf", { html: "x", options: { format: "constructor" } }, 400],
    ["a PDF of one page", "/pdf", { html: "x", options: { fullPage: true } }, 501],
    ["elements without a selector", "/scrape", { html: "x", elements: [] }, 400],
    ["code", "/function", { code: "export default () => 1" }, 501],
    ["code for Chrome", "/chrome/unblock", {}, 501],
  ])("are refused with a sentence: %s", async (_what, path, body, status) => {
    const answer = await post(path, body);
    expect([answer.status, Object.keys(JSON.parse(answer.text) as object)]).toEqual([status, ["error"]]);
  });

  it.each(["--remote-debugging-port=9222", "--user-data-dir=/etc", "--proxy-server=http://10.0.0.1"])(
    "pass no switch to Chromium: %s",
    async (argument) => {
      const launch = encodeURIComponent(JSON.stringify({ args: [argument] }));
      expect((await post("/content", { html: "x" }, `&launch=${launch}`)).status).toBe(400);
    },
  );
});

describe("a session", () => {
  it("is created by a connection, listed, and killed", async () => {
    const socket = `${server.baseUrl.replace(/^http/, "ws")}/browserless/chromium?token=${shop.key}`;
    const client = await connectCdp(socket);
    const get = (path: string) => fetch(`${server.baseUrl}/browserless${path}?token=${shop.key}`);
    const [running] = (await (await get("/sessions")).json()) as { id: string; killURL: string }[];
    expect(running?.killURL).toContain(`/browserless/kill/${running?.id ?? ""}`);
    expect(await (await get("/pressure")).json()).toMatchObject({ pressure: { running: 1, isAvailable: true } });
    const limited = (max_concurrent_sessions: number | null) =>
      server.request("PATCH", `/org/projects/${shop.id}/limits`, { body: { max_concurrent_sessions } });
    expect((await limited(1)).status).toBe(200);
    expect(await (await get("/pressure")).json()).toMatchObject({ pressure: { isAvailable: false, maxConcurrent: 1 } });
    await limited(null);
    expect((await get("/active")).status).toBe(204);
    expect(await (await get("/json/version")).json()).toHaveProperty("webSocketDebuggerUrl");
    expect((await get(`/kill/${running?.id ?? ""}`)).status).toBe(204);
    expect(await sessions()).toEqual([]);
    expect((await get("/kill/all")).status).toBe(204);
    client.close();
  });

  it("is created by the session API, joined, and ended by its own address without a key", async () => {
    const created = await post("/session", { ttl: 60_000, stealth: true, args: ["--window-size=800,600"] });
    const { connect, id, stop, ttl } = JSON.parse(created.text) as Record<"connect" | "id" | "stop" | "ttl", string>;
    expect([created.status, ttl]).toEqual([200, 60_000]);
    expect(await sessions()).toMatchObject([
      { session_id: id, stealth: true, viewport: { width: 800, height: 600 }, origin: { dialect: "browserless" } },
    ]);
    const client = await connectCdp(connect);
    client.close();
    expect(await sessions()).toHaveLength(1);
    expect(stop).not.toContain(shop.key);
    const forged = stop.replace(/\.[^.]*$/, ".AAAA");
    expect((await fetch(forged, { method: "DELETE" })).status).toBe(401);
    expect((await fetch(stop, { method: "DELETE", headers: { authorization: `Bearer ${server.key}x` } })).status).toBe(
      401,
    );
    expect((await fetch(stop, { method: "DELETE" })).status).toBe(200);
    expect(await sessions()).toEqual([]);
    expect((await fetch(stop, { method: "DELETE" })).status).toBe(404);
    expect(server.log()).not.toContain(stop.split("/").at(-1));
  });

  it.each([
    ["a switch", { args: ["--remote-debugging-port=1"] }, 400],
    ["another engine", { browser: "firefox" }, 400],
    ["a proxy of the vendor", { proxy: { type: "residential" } }, 501],
    ["an endless life", { ttl: 1e12 }, 400],
  ])("is refused with a sentence: %s", async (_what, body, status) => {
    const answer = await post("/session", body);
    expect([answer.status, Object.keys(JSON.parse(answer.text) as object)]).toEqual([status, ["error"]]);
    expect(await sessions()).toEqual([]);
  });

  it("needs a key, which no log has", async () => {
    const refused = await fetch(`${server.baseUrl}/browserless/content?token=wrong`, { method: "POST" });
    expect(refused.status).toBe(401);
    const basic = await fetch(`${server.baseUrl}/browserless/active`, {
      headers: { authorization: `Basic ${btoa(`${shop.key}:`)}` },
    });
    expect(basic.status).toBe(204);
    expect(server.log()).not.toContain(shop.key);
  });
});
