import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

describe.each(["headless_shell", "chrome"] as const)("a page in %s", (kind) => {
  const session = new ActingSession({ kind, executable: findChromium(kind) ?? "missing" });

  it("can be used after it was rendered in advance, and after back and forward", async () => {
    const { promise: requested, resolve } = Promise.withResolvers<undefined>();
    session.handle("/next", (_request, response) => {
      resolve(undefined);
      response.writeHead(200, { "content-type": "text/html" })
        .end(`<!doctype html><title>next</title><h1>Next page</h1><button onclick="document.title = 'hit'">Hit</button>
        <script>document.prerendering && document.body.append("Rendered in advance")</script>`);
    });
    const first = await session.show(`<h1>First page</h1><button onclick="location = '/next'">Go</button>
      <script type=speculationrules>{ "prerender": [{ "urls": ["/next"], "eagerness": "immediate" }] }</script>`);
    // Chromium decides, and does not say that it will not; the page must work in both cases.
    const chanceMs = 2_000;
    const timer = setTimeout(resolve, chanceMs);
    await requested;
    clearTimeout(timer);
    const next = await session.done({ type: "click", role: "button", name: "Go", observe: {} });
    expect(next).toMatchObject({ tab: first.tab, title: "next", navigated: true });
    expect(next.observation?.outline).toContain('heading 1 "Next page"');
    expect(await session.done({ type: "click", role: "button", name: "Hit" })).toMatchObject({ title: "hit" });
    const { text } = await session.instance.call("POST", "/read", "{}");
    expect(text).toContain("Next page");
    expect((await session.instance.call("POST", "/screenshot", "{}")).status).toBe(200);
    expect(await session.evaluate("document.title")).toBe("hit");
    await session.done({ type: "back" });
    expect(await session.evaluate("document.querySelector('h1').textContent")).toBe("First page");
    await session.done({ type: "forward" });
    expect(await session.done({ type: "click", role: "button", name: "Hit" })).toMatchObject({ title: "hit" });
  });

  it.each(["Basic", 'Digest nonce="0123456789abcdef", qop="auth", algorithm=MD5,'])(
    "shows what a site answers without credentials: %s",
    async (scheme) => {
      session.handle("/auth", (_request, response) => {
        response
          .writeHead(401, { "content-type": "text/html", "www-authenticate": `${scheme} realm="harbour"` })
          .end("<h1>Sign-in needed</h1>");
      });
      const { observation, status } = await session.done({
        type: "navigate",
        url: session.url("/auth", "localhost"),
        observe: {},
      });
      expect([status, observation?.outline]).toEqual([401, 'heading 1 "Sign-in needed"']);
      await session.show(`<p id=p>Waits</p><iframe src="/auth"></iframe>
        <button onclick="fetch('/auth').then(({ status }) => { p.textContent = status; })">Ask</button>`);
      await session.done({ type: "click", role: "button", name: "Ask" });
      expect(await session.evaluate("p.textContent")).toBe("401");
    },
  );

  it("never shows the password of an address", async () => {
    session.handle("/known", ({ headers }, response) => {
      const isKnown = headers.authorization === `Basic ${btoa("user:p@ss")}`;
      response
        .writeHead(isKnown ? 200 : 401, {
          "content-type": "text/html",
          ...(!isKnown && { "www-authenticate": 'Basic realm="Harbour"' }),
        })
        .end("<title>known</title><h1>Known</h1><img src=/missing.png><script>fetch('/missing')</script>");
    });
    const url = session.url("/known").replace("://", "://user:p%40ss@");
    const opened = await session.done({ type: "open_tab", url, observe: {} });
    await session.show(`<a href="${url}" target=_blank>Open</a>`);
    const clicked = await session.done({ type: "click", role: "link", name: "Open", observe: {} });
    const { text } = await session.instance.call("POST", "/observe", "{}");
    expect([opened.status, clicked.new_tabs.length]).toEqual([200, 1]);
    expect(JSON.stringify([opened, clicked, text, session.instance.events])).not.toMatch(/p%40ss|p@ss/);
    await session.done({ type: "close_tab" });
    await session.done({ type: "close_tab" });
  });
});
