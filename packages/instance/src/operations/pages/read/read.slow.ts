import type { PageText } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeChromium } from "../../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../../testing/run-instance.ts";

/** Each contains text that a person cannot see, as `HIDDEN`. */
const hidden: Readonly<Record<string, string>> = {
  "without display": `<p style="display:none">HIDDEN</p>`,
  "without visibility": `<p style="visibility:hidden">HIDDEN</p>`,
  "hidden from assistive technology": `<p aria-hidden=true>HIDDEN</p>`,
  "with the attribute hidden": `<p hidden>HIDDEN</p>`,
  transparent: `<div style="opacity:0"><p>HIDDEN</p></div>`,
  "transparent by a filter": `<p style="filter:opacity(0)">HIDDEN</p>`,
  "of one pixel": `<p style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)">HIDDEN</p>`,
  "left of the page": `<p style="position:absolute;left:-9999px">HIDDEN</p>`,
  "above the page": `<p style="position:absolute;top:-9999px">HIDDEN</p>`,
  "moved away": `<p style="transform:translateX(-5000px)">HIDDEN</p>`,
  "indented away": `<p style="text-indent:-9999px;overflow:hidden">HIDDEN</p>`,
  "fixed next to the screen": `<p style="position:fixed;left:200vw">HIDDEN</p>`,
  "without font size": `<p style="font-size:0">HIDDEN</p>`,
  "in tiny letters": `<p style="font-size:1px">HIDDEN</p>`,
  "scaled to nothing": `<p style="transform:scale(0)">HIDDEN</p>`,
  "cut away": `<p style="clip-path:inset(100%)">HIDDEN</p>`,
  "in a box without height": `<div style="height:0;overflow:hidden">HIDDEN</div>`,
  "in a box without width": `<span style="display:inline-block;width:0;overflow:hidden;white-space:nowrap">HIDDEN</span>`,
  "outside of a scrolled box": `<div style="overflow:auto;height:50px;position:relative"><p style="position:absolute;left:-999px">HIDDEN</p></div>`,
  "of the colour of the page": `<p style="color:#fff">HIDDEN</p>`,
  "of the colour behind it": `<div style="background:#123456"><p style="color:#123458">HIDDEN</p></div>`,
  "without colour": `<p style="color:transparent">HIDDEN</p>`,
  "in closed details": `<details><summary>Shown</summary>HIDDEN</details>`,
  "in comments, scripts and styles": `<!-- HIDDEN --><script>"HIDDEN"</script><style>/* HIDDEN */</style><noscript>HIDDEN</noscript>`,
  "in titles and fields": `<p title=HIDDEN>x</p><input value=HIDDEN><input type=password value=HIDDEN><textarea>HIDDEN</textarea><select><option>HIDDEN</select>`,
  "in dots": `<p style="-webkit-text-security:disc">HIDDEN</p>`,
  "in a transparent frame": `<iframe style="opacity:0" srcdoc="HIDDEN"></iframe>`,
};

/** Each contains text that a person can see, as `SHOWN`. */
const shown: Readonly<Record<string, string>> = {
  "far below": `<p style="margin-top:9000px">SHOWN</p>`,
  "that Chromium has not laid out yet": `<div style="content-visibility:auto;margin-top:9000px"><p>SHOWN</p></div>`,
  "in a scrolled box": `<div id=box style="height:40px;overflow:auto"><p>SHOWN</p><p style="margin-top:500px">end</p></div><script>box.scrollTop = 500</script>`,
  "light on dark": `<div style="background:#000"><p style="color:#fff">SHOWN</p></div>`,
  "light on a picture": `<div style="position:relative"><svg style="position:absolute;width:500px;height:90px"><path d="M0 0H500V90"/></svg><p style="position:relative;color:#fff">SHOWN</p></div>`,
  "cut out of a gradient": `<p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">SHOWN</p>`,
  "in a closed shadow root": `<div id=host></div><script>host.attachShadow({ mode: "closed" }).innerHTML = "<p>SHOWN</p>"</script>`,
  "in a slot of a slot": `<div id=outer>SHOWN</div><script>
    const root = outer.attachShadow({ mode: "open" }); root.innerHTML = "<div id=inner><slot></slot></div>";
    root.getElementById("inner").attachShadow({ mode: "open" }).innerHTML = "<b><slot></slot></b>";</script>`,
  "in a frame": `<iframe srcdoc="<p>SHOWN</p>"></iframe>`,
  "in open details": `<details open><summary>x</summary>SHOWN</details>`,
  "with display contents": `<div style="display:contents"><span style="display:contents">SHOWN</span></div>`,
  "right to left": `<html dir=rtl><div style="width:5000px"><p style="margin-right:3000px">SHOWN</p></div>`,
};

const article = `<!doctype html><title>An article</title><header><a href="/">Home</a></header>
  <div class=menu>${"<a href='/x'>Menu</a> ".repeat(5)}</div>
  <div class=post><h1>Heading</h1>${`<p>${"A long sentence of the text, with commas, and words. ".repeat(6)}</p>`.repeat(5)}</div>
  <footer>Imprint</footer>`;
const long = `<!doctype html><title>Long</title><main>${Array.from({ length: 400 }, (_, place) => `<p>Paragraph ${String(place)} with some words in it.</p>`).join("")}</main>`;

let site: Server;
let otherSite: string;
let port: number;
const pages = new Map<string, string>([
  ["article", article],
  ["long", long],
  ["small", "<!doctype html><title>Small</title><p>Words of a small page.</p>"],
]);
beforeAll(async () => {
  site = createServer((request, response) => {
    const page = pages.get(request.url?.slice(1) ?? "");
    response.setHeader("content-type", "text/html; charset=utf-8").end(page ?? "missing");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  ({ port } = site.address() as AddressInfo);
  otherSite = `http://localhost:${String(port)}`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

describeChromium("read", (chromium) => {
  let instance: RunningInstance;
  let open: (html: string) => Promise<void>;
  let acceptDialog: () => Promise<unknown>;
  let run: (expression: string) => Promise<unknown>;

  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600, viewport: { width: 1000, height: 700 } });
    const cdp = cdpClient(await instance.connect());
    const targets = (await cdp.send("Target.getTargets")).result as {
      targetInfos: { targetId: string; type: string }[];
    };
    const targetId = targets.targetInfos.find(({ type }) => type === "page")?.targetId;
    const attached = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    const { sessionId } = attached.result as { sessionId: string };
    // Only sessions that had this domain before the dialog can answer it.
    await cdp.send("Page.enable", {}, sessionId);
    acceptDialog = () => cdp.send("Page.handleJavaScriptDialog", { accept: true }, sessionId);
    run = async (expression) => {
      const { result } = await cdp.send(
        "Runtime.evaluate",
        { expression, awaitPromise: true, returnByValue: true },
        sessionId,
      );
      return (result as { result: { value?: unknown } }).result.value;
    };
    let opened = 0;
    open = async (html) => {
      const name = `page-${String(++opened)}`;
      pages.set(
        name,
        html.startsWith("<!doctype") || html.startsWith("<html") ? html : `<!doctype html><title>T</title>${html}`,
      );
      await cdp.send("Page.navigate", { url: `http://127.0.0.1:${String(port)}/${name}` }, sessionId);
      await eventuallyPasses(async () => {
        expect(await run("document.readyState + location.pathname")).toBe(`complete/${name}`);
      });
    };
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function read(
    body: object = {},
  ): Promise<{ status: number; body: PageText & { code: string; message: string } }> {
    const { status, text } = await instance.call("POST", "/read", JSON.stringify(body));
    return { status, body: JSON.parse(text) as PageText & { code: string; message: string } };
  }
  const textOf = async (body: object = {}): Promise<string> => (await read(body)).body.markdown;

  it.each(Object.keys(hidden))("leaves out text %s", async (kind) => {
    await open(`<p>before</p>${hidden[kind] ?? ""}<p>after</p>`);
    const text = await textOf({ content: "all" });
    expect(text).not.toContain("HIDDEN");
    expect(text).toContain("before");
    expect(text).toContain("after");
  });

  it.each(Object.keys(shown))("contains text %s", async (kind) => {
    await open(shown[kind] ?? "");
    expect(await textOf({ content: "all" })).toContain("SHOWN");
  });

  it("converts headings, lists, code, tables and links with absolute addresses", async () => {
    await open(`<base href="https://example.com/docs/"><h1>Title</h1><p><b>Bold</b>, <a href="a?q=1">a link</a>, <a href="javascript:x()">none</a>.
      <ul><li>one<ol><li>two</ol></ul><pre class=language-js>const a = 1;\n  b();</pre>
      <table><tr><th>A<th>B<tr><td>1<td>x | y</table><img src=/i.png alt="A picture"><p>日本語`);
    expect(await textOf({ content: "all" })).toBe(
      [
        "# Title",
        "**Bold**, [a link](https://example.com/docs/a?q=1), none.",
        "- one\n  1. two",
        "```js\nconst a = 1;\n  b();\n```",
        "| A | B |\n| - | - |\n| 1 | x \\| y |",
        "![A picture](https://example.com/i.png)",
        "日本語\n",
      ].join("\n\n"),
    );
    const withoutAddresses = await textOf({ content: "all", links: false });
    expect(withoutAddresses).toContain("**Bold**, a link, none.");
    expect(withoutAddresses).not.toContain("https:");
  });

  it("reads the main text, and the whole page on request", async () => {
    await open(article);
    const { body } = await read();
    expect(body).toMatchObject({ title: "An article" });
    expect(body.markdown).toContain("A long sentence");
    expect(body.markdown).not.toContain("Imprint");
    expect(body.markdown).not.toContain("Menu");
    expect(await textOf({ content: "all" })).toContain("Imprint");
  });

  it("reads the frame of another site", async () => {
    await open(`<iframe src="${otherSite}/small"></iframe>`);
    await eventuallyPasses(async () => {
      expect(await textOf({ content: "all" })).toContain("Words of a small page");
    });
  });

  it("continues with the same text although the page changes", async () => {
    await open(long);
    const whole = await textOf({ max_tokens: 100_000 });
    let joined = "";
    let next: number | undefined = 0;
    while (next !== undefined) {
      const { body } = await read({ max_tokens: 500, offset: next });
      expect(body.tokens).toBeLessThanOrEqual(500);
      if (joined !== "") expect(body.markdown).toMatch(/^Paragraph/);
      joined += body.markdown;
      next = body.next_offset;
      await run("document.querySelector('main').prepend('Changed. ')");
    }
    expect(joined).toBe(whole);
    const beyond = await read({ offset: whole.length + 1 });
    expect(beyond).toMatchObject({ status: 400, body: { code: "bad_request" } });
    expect(beyond.body.message).toContain("body.offset");
  });

  it("reads one element", async () => {
    await open(
      `<p>outside</p><div id=one><p>inside</p><div id=host></div></div><script>host.attachShadow({ mode: "open" }).innerHTML = "<p id=deep>deep</p>"</script>`,
    );
    expect(await textOf({ selector: "#one" })).toBe("inside\n\ndeep\n");
    expect(await textOf({ selector: "#deep" })).toBe("deep\n");
    expect(await read({ selector: "#none" })).toMatchObject({ status: 404, body: { code: "element_not_found" } });
    const invalid = await read({ selector: "p[" });
    expect(invalid).toMatchObject({ status: 400, body: { code: "bad_request" } });
    expect(invalid.body.message).toContain("body.selector");
    expect(await read({ ref: "e9999" })).toMatchObject({ status: 409, body: { code: "stale_reference" } });
    expect(await read({ ref: "e1", selector: "p" })).toMatchObject({ status: 400 });
    expect(await read({ tab: "t99" })).toMatchObject({ status: 404 });
  });

  describe("hostile pages", () => {
    it("reads a page with 2,000 nested elements", async () => {
      await open(
        `<div id=x></div><script>let e = x; for (let i = 0; i < 2000; i++) { const d = document.createElement(i % 2 ? "ul" : "div"); d.append("L" + i); e.append(d); e = d; }</script>`,
      );
      expect(await textOf({ content: "all" })).toContain("L100");
    });

    it("reads the beginning of a page with 40,000 nodes", async () => {
      await open(`<p>Start</p>${"<b>x</b>".repeat(20_000)}`);
      expect(await textOf({ content: "all", max_tokens: 100 })).toContain("Start");
    });

    it("answers 409 while a dialog is open", async () => {
      await open("<p>text</p>");
      expect(await textOf()).toBe("text\n");
      void run("alert(1)");
      await eventuallyPasses(async () => {
        const answer = await read();
        expect(answer).toMatchObject({ status: 409, body: { code: "dialog_open" } });
      });
      await acceptDialog();
      await eventuallyPasses(async () => {
        expect((await read()).body).toMatchObject({ markdown: "text\n" });
      });
    });
  });
});
