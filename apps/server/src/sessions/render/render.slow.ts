import { Browser, RenderedPage, type RenderPage } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { type RenderSite, startRenderSite } from "../../testing/render-site.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let shop: { id: string; key: string };
let site: RenderSite;
beforeAll(async () => {
  site = await startRenderSite();
  server = await startTestServer({
    warm: 1,
    max_sessions_per_project: 1,
    allow_private_hosts: ["127.0.0.1", "localhost"],
  });
  shop = await server.addProject("shop");
});
afterAll(async () => {
  await server.close();
  await site[Symbol.asyncDispose]();
});
beforeEach(() => {
  site.requests.length = 0;
});

const sessions = async (query = "") =>
  ((await server.request("GET", `/browsers${query}`, { key: shop.key })).body as unknown[]).map((one) =>
    Browser.parse(one),
  );
const ask = (body: RenderPage, signal?: AbortSignal) =>
  server.request("POST", "/render", { key: shop.key, body, ...(signal && { signal }) });
/** The session of a page ends soon after its limit, which by default a busy machine can reach. */
const unhurried = { timeout_ms: 120_000 };
async function render(body: RenderPage): Promise<RenderedPage> {
  const answer = await ask({ ...unhurried, ...body });
  expect(answer.body).not.toHaveProperty("code");
  return RenderedPage.parse(answer.body);
}
async function refusal(body: RenderPage): Promise<{ status: number; code: string; message: string }> {
  const { body: error, status } = await ask(body);
  return { status, ...(error as { code: string; message: string }) };
}
const at = (path: string): string => site.url + path;

describe("a rendered page", () => {
  it("has all its outputs at once, and its session has ended", async () => {
    const page = await render({
      url: at("/moved"),
      outputs: ["html", "markdown", "text", "links", "outline", "screenshot", "pdf"],
      screenshot: { format: "jpeg", full_page: true, quality: 50 },
      elements: ["h1", ".missing"],
      viewport: { width: 640, height: 480, scale: 2 },
    });
    expect(page).toMatchObject({
      url: at("/page"),
      status: 200,
      title: "Shop",
      redirects: [
        { url: at("/moved"), status: 301 },
        { url: at("/moved-again"), status: 302 },
      ],
      headers: { "content-type": "text/html", etag: '"1"' },
      dialogs: [],
      cut: [],
      timed_out: false,
      html: expect.stringContaining('<p id="late">by script</p>') as unknown,
      text: expect.stringContaining("Fresh every day") as unknown,
      markdown: expect.stringContaining("# Fish & chips") as unknown,
      outline: expect.stringContaining('heading 1 "Fish & chips"') as unknown,
      links: [{ url: at("/other"), text: "Other" }],
      elements: [
        {
          selector: "h1",
          results: [
            { text: "Fish & chips", html: "Fish &amp; chips", attributes: { class: "title", "data-kind": "big" } },
          ],
        },
        { selector: ".missing", results: [] },
      ],
      screenshot: { content_type: "image/jpeg" },
      pdf: { content_type: "application/pdf" },
    });
    expect(page.headers).not.toHaveProperty("set-cookie");
    const picture = Buffer.from(page.screenshot?.data ?? "", "base64");
    expect(picture.subarray(0, 3).toString("hex")).toBe("ffd8ff");
    expect(
      Buffer.from(page.pdf?.data ?? "", "base64")
        .subarray(0, 5)
        .toString(),
    ).toBe("%PDF-");
    expect(await sessions()).toEqual([]);
    const [ended] = await sessions("?status=deleted");
    expect(ended).toMatchObject({
      session_id: page.session_id,
      origin: { dialect: "render" },
      ended_reason: "deleted",
    });
  });

  it("can be HTML of the request, and is Markdown by default", async () => {
    const page = await render({
      html: "<title>Mine</title><h1>Hello</h1><p>world</p><script>document.title += '!'</script>",
    });
    expect(page).toMatchObject({
      url: "about:blank",
      title: "Mine!",
      markdown: expect.stringContaining("# Hello") as unknown,
    });
    expect(page).not.toHaveProperty("status");
    expect(page).not.toHaveProperty("html");
  });

  it("is a file if that is the only output and its type is accepted", async () => {
    const get = (accept: string, body: RenderPage) =>
      fetch(`${server.baseUrl}/render`, {
        method: "POST",
        headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/json", accept },
        body: JSON.stringify({ ...unhurried, ...body }),
      });
    const picture = await get("image/*", { html: "<p>x", screenshot: { format: "webp" } });
    expect(picture.headers.get("content-type")).toBe("image/webp");
    expect(
      Buffer.from(await picture.arrayBuffer())
        .subarray(8, 12)
        .toString(),
    ).toBe("WEBP");
    const pdf = await get("application/pdf", { html: "<p>x", outputs: ["pdf"] });
    expect(pdf.headers.get("content-type")).toBe("application/pdf");
    expect((await pdf.text()).startsWith("%PDF-")).toBe(true);
    const both = await get("image/png", { html: "<p>x", outputs: ["screenshot", "text"] });
    expect(both.headers.get("content-type")).toMatch(/^application\/json/);
    await both.body?.cancel();
  });

  it("waits for elements, texts and quiet networks", async () => {
    const url = at("/slow-part");
    expect((await render({ url, outputs: ["text"], wait_for: { selector: "#second" } })).text).toContain("second part");
    expect((await render({ url, outputs: ["text"], wait_for: { text: "SECOND  part" } })).text).toContain(
      "second part",
    );
    expect((await render({ url, outputs: ["text"], wait_for: { time_ms: 1 } })).text).toContain("first");
    expect(await refusal({ url, wait_for: { time_ms: 60_000 }, timeout_ms: 2000 })).toMatchObject({
      status: 409,
      code: "wait_timeout",
    });
    const idle = await render({ url: at("/after-load"), outputs: ["text"], wait_until: "network_idle" });
    expect(idle.text).toContain("loaded after the page");
    // Enough on a busy machine; the test waits for its end.
    const timeout_ms = 8_000;
    expect(await refusal({ url, wait_for: { selector: "#third" }, timeout_ms })).toMatchObject({
      status: 409,
      code: "wait_timeout",
      message: expect.stringContaining("#third") as unknown,
    });
    expect(await refusal({ url, wait_for: { selector: ":::" } })).toMatchObject({
      status: 400,
      field: "body.wait_for.selector",
    });
    expect(await refusal({ url, elements: [":::"] })).toMatchObject({ status: 400, field: "body.elements" });
    expect(await refusal({ url, screenshot: { selector: "#none" } })).toMatchObject({
      status: 404,
      code: "element_not_found",
      field: "body.screenshot.selector",
    });
  });

  it("dismisses and reports dialogs", async () => {
    const { dialogs, text } = await render({ url: at("/alerts"), outputs: ["text"] });
    expect(text).toBe("false");
    expect(dialogs).toEqual([
      { type: "alert", message: "hello" },
      { type: "confirm", message: "sure?" },
    ]);
  });

  it("is shown as the site sends it with an error", async () => {
    expect(await render({ url: at("/none"), outputs: ["text"] })).toMatchObject({ status: 404, text: "Not here" });
    expect(await render({ url: at("/empty-error"), outputs: ["text"] })).toMatchObject({
      status: 500,
      url: at("/empty-error"),
    });
    expect(await render({ url: at("/secret"), outputs: ["text"] })).toMatchObject({ status: 401, text: "denied" });
    const http_auth = { username: "me", password: "pass" };
    expect(await render({ url: at("/secret"), outputs: ["text"], http_auth })).toMatchObject({
      status: 200,
      text: "the secret",
    });
    const wrong = { username: "me", password: "wrong" };
    expect(await render({ url: at("/secret"), outputs: ["text"], http_auth: wrong })).toMatchObject({ status: 401 });
  });

  it("gets headers and cookies for its origin alone", async () => {
    const headers = { "X-Mine": "one", "User-Agent": "ignored-by-cookies" };
    const cookies = [{ name: "session", value: "abc" }];
    const page = await render({ url: at("/headers"), headers: { "X-Mine": "one" }, cookies, outputs: ["text"] });
    expect(JSON.parse(page.text ?? "")).toMatchObject({ "x-mine": "one", cookie: "session=abc" });
    await render({ url: at("/other-origin"), headers, cookies, outputs: ["text"] });
    const pictures = site.requests.filter(({ path }) => path === "/picture.png");
    expect(pictures.map(({ headers: sent }) => [sent.host?.split(":")[0], sent["x-mine"], sent.cookie]).sort()).toEqual(
      [
        ["127.0.0.1", "one", "session=abc; a=b"],
        ["localhost", undefined, undefined],
      ],
    );
    site.requests.length = 0;
    await render({ url: at("/moved-to-other-origin"), headers, cookies, outputs: ["text"] });
    expect(site.requests.find(({ path }) => path === "/page")?.headers).not.toHaveProperty("x-mine");
  });

  it("has the size, agent, scripts and parts that the request chooses", async () => {
    const url = at("/echo-agent");
    const viewport = { width: 700, height: 500 };
    expect((await render({ url, outputs: ["text"], user_agent: "Mine/1", viewport })).text).toBe("Mine/1 700x500");
    expect((await render({ url, outputs: ["text"], javascript: false })).text).toBe("");
    await render({ url: at("/pictures"), block: ["image"] });
    expect(site.requests.some(({ path }) => path === "/picture.png")).toBe(false);
  });
});

describe("an address of something else than a page", () => {
  it.each([
    ["/file", "navigation_failed", 'is a download ("a.zip"), not a page'],
    ["/document.pdf", "navigation_failed", "is a PDF, not a page"],
    ["/nothing", "navigation_failed", "has no content (204)"],
    ["/moved-to-file", "navigation_failed", "Cannot open"],
    ["/moved-to-private", "navigation_failed", "10.0.0.1"],
  ])("answers %s with %s: %s", async (path, code, message) => {
    expect(await refusal({ url: at(path) })).toMatchObject({
      status: 409,
      code,
      message: expect.stringContaining(message) as unknown,
    });
    expect(await sessions()).toEqual([]);
  });

  it.each([
    "file:///etc/passwd",
    "data:text/html,x",
    "chrome://version",
    "about:blank",
    "view-source:https://a.example",
    "javascript:alert(1)",
  ])("is refused without a session: %s", async (url) => {
    const before = await sessions("?status=all&limit=1");
    expect(await refusal({ url })).toMatchObject({ status: 400, field: "body.url" });
    expect(await sessions("?status=all&limit=1")).toEqual(before);
  });

  it("cannot be reached from a page", async () => {
    const { html, text } = await render({ url: at("/to-file"), outputs: ["text", "html"] });
    expect(text).toContain("still here");
    expect(html).not.toContain("root:");
    const page = await render({
      html: `<iframe src="file:///etc/passwd"></iframe><img src="file:///etc/passwd">`,
      outputs: ["html", "markdown"],
    });
    expect(JSON.stringify(page)).not.toContain("root:");
  });

  it("is private", async () => {
    expect(await refusal({ url: "http://10.0.0.1/" })).toMatchObject({ status: 409, code: "navigation_failed" });
    expect(await refusal({ url: "http://169.254.169.254/latest/meta-data" })).toMatchObject({ status: 409 });
  });

  it("ends at the time limit, or is read as it is with best_attempt", async () => {
    expect(await refusal({ url: at("/endless"), timeout_ms: 2000 })).toMatchObject({
      status: 409,
      code: "wait_timeout",
    });
    expect(await refusal({ url: at("/silent"), timeout_ms: 2000 })).toMatchObject({
      status: 409,
      code: "wait_timeout",
    });
    // Enough on a busy machine; the test waits for its end.
    const timeout_ms = 8_000;
    const page = await render({ url: at("/endless"), timeout_ms, best_attempt: true, outputs: ["text"] });
    expect(page).toMatchObject({ timed_out: true, text: "begun", status: 200 });
    expect(await sessions()).toEqual([]);
  });
});

describe("the session of a rendered page", () => {
  it("is shown while it runs, counts, and ends when its client leaves", async () => {
    const client = new AbortController();
    const asked = ask({ url: at("/silent"), ...unhurried }, client.signal).catch((error: unknown) => error);
    const [session] = await eventually("the session runs", async () => {
      const found = await sessions();
      return found.length > 0 ? found : undefined;
    });
    expect(session).toMatchObject({ origin: { dialect: "render" }, timeout_seconds: 10, max_duration_seconds: 130 });
    expect(await refusal({ html: "<p>x", timeout_ms: 1000 })).toMatchObject({ status: 429 });
    const waiting = render({ html: "<p>waited", outputs: ["text"] });
    client.abort();
    await asked;
    expect((await waiting).text).toBe("waited");
    expect(await sessions()).toEqual([]);
  });

  it.each(["crashes", "is deleted"])("ends when its browser %s", async (how) => {
    const asked = ask({ url: at("/silent"), ...unhurried });
    const [session] = await eventually("the session runs", async () => {
      const found = await sessions();
      return found.length > 0 ? found : undefined;
    });
    await eventually("the page is requested", () =>
      Promise.resolve(site.requests.some(({ path }) => path === "/silent")),
    );
    if (how === "crashes") {
      const client = await connectCdp(session?.cdp_ws_url ?? "");
      client.send("Browser.crash").catch(() => undefined);
    } else await server.request("DELETE", `/browsers/${session?.session_id ?? ""}`, { key: shop.key });
    const answer = await asked;
    expect(answer.body).toMatchObject({ code: "browser_not_running" });
    expect(answer.status).toBe(503);
    expect(await sessions()).toEqual([]);
  });
});

describe("the request", () => {
  it("needs exactly one page, and its fields fit together", async () => {
    expect(await refusal({})).toMatchObject({ status: 400 });
    expect(await refusal({ url: at("/page"), html: "x" })).toMatchObject({ status: 400 });
    expect(await refusal({ html: "x", headers: { a: "b" } })).toMatchObject({ status: 400 });
    expect(await refusal({ html: "x", cookies: [{ name: "a", value: "b" }] })).toMatchObject({ status: 400 });
    expect(await refusal({ html: "x", timeout_ms: 120_001 })).toMatchObject({ status: 400 });
    expect(await refusal({ html: "x", proxy: { name: "nowhere" } })).toMatchObject({ status: 404 });
    expect(await refusal({ html: "x", profile: { name: "nobody" } })).toMatchObject({ status: 404 });
    expect(await refusal({ html: "x", screenshot: { format: "jpeg", omit_background: true } })).toMatchObject({
      status: 400,
    });
    expect((await server.request("POST", "/render", { key: null, body: { html: "x" } })).status).toBe(401);
  });
});
