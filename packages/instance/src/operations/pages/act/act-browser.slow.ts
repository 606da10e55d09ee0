import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ActingSession } from "../testing/acting-session.ts";
import { describeChromium } from "../../../testing/chromium.ts";
import { cdpClient } from "../../../testing/run-instance.ts";

describeChromium("acting in a browser", (chromium) => {
  const session = new ActingSession(chromium);

  describe("pointer and keys", () => {
    it("hovers, double-clicks, uses other buttons and holds keys", async () => {
      await session.show(`<style>#menu { display: none } #top:hover #menu { display: block }</style><div id=top>Menu<div id=menu><button>Item</button></div></div>
      <p id=t>text</p><script>seen = []; for (const type of ["dblclick", "contextmenu", "auxclick", "click"]) t.addEventListener(type, (event) => { event.preventDefault(); seen.push([event.type, event.shiftKey, event.isTrusted].join()); });</script>`);
      await session.done({ type: "hover", selector: "#top" });
      await session.done({ type: "click", selector: "#menu button" });
      await session.done({ type: "click", selector: "#t", click_count: 2, hold_keys: ["Shift"] });
      await session.done({ type: "click", selector: "#t", button: "right" });
      expect(await session.evaluate("seen")).toEqual([
        "click,true,true",
        "click,true,true",
        "dblclick,true,true",
        "contextmenu,false,true",
        "auxclick,false,true",
      ]);
    });

    it("presses Playwright's and X11's key names, and refuses others before the first", async () => {
      await session.show(
        `<input id=f value=abc><script>seen = []; f.onkeydown = (event) => seen.push(event.code);</script>`,
      );
      const { element } = await session.done({
        type: "press",
        selector: "#f",
        keys: ["Control+KeyA", "Delete", "x", "ArrowLeft", "Digit7", "Space", "Backspace"],
      });
      expect(element).toMatchObject({ value: "7x" });
      const refused = await session.act({ type: "press", keys: ["Enter", "Hyper"] });
      expect(refused).toMatchObject({ status: 400, field: "body.keys[1]" });
    });

    it("drags with HTML drag-and-drop, and with pointer events", async () => {
      await session.show(`<div id=a draggable=true style="width:50px;height:50px;background:red">A</div><div style="height:900px"></div><div id=b style="width:99px;height:99px;background:#eee"></div>
      <script>a.ondragstart = (event) => event.dataTransfer.setData("text/plain", "payload"); b.ondragover = (event) => event.preventDefault();
      b.ondrop = (event) => { event.preventDefault(); b.textContent = event.dataTransfer.getData("text/plain"); };</script>`);
      await session.done({ type: "drag", selector: "#a", to: { selector: "#b" } });
      expect(await session.evaluate("b.textContent")).toBe("payload");
      await session.show(`<div id=a style="width:50px;height:50px;background:red">A</div><div id=b style="margin:100px;width:99px;height:99px;background:#eee"></div>
      <script>let down; a.onpointerdown = () => { down = true; }; b.onpointerup = () => { if (down) b.textContent = "dropped"; };</script>`);
      await session.done({ type: "drag", selector: "#a", to: { selector: "#b" } });
      expect(await session.evaluate("b.textContent")).toBe("dropped");
    });

    it("drags by pixels", async () => {
      await session.show(`<div id=a style="position:absolute;left:100px;top:100px;width:50px;height:50px;background:red"></div>
      <script>let down; a.onpointerdown = (event) => { down = event; a.setPointerCapture(event.pointerId); };
      a.onpointerup = (event) => { a.textContent = [event.x - down.x, event.y - down.y]; };</script>`);
      await session.done({ type: "drag", selector: "#a", delta_x: 120, delta_y: -30 });
      expect(await session.evaluate("a.textContent")).toBe("120,-30");
    });

    it.each([
      ["first", "last", "BCA"],
      ["last", "first", "CAB"],
    ])(
      "drags the %s item of a list that is sorted by the middles of its items onto the %s",
      async (from, to, order) => {
        await session.show(`<ul style="padding:0">${["A", "B", "C"].map((item) => `<li style="height:27px">${item}</li>`).join("")}</ul><script>
      let dragged, last; const list = document.querySelector("ul");
      list.onmousedown = (event) => { dragged = event.target; last = event.y; };
      document.onmouseup = () => { dragged = undefined; };
      document.onmousemove = ({ y }) => {
        if (!dragged) return;
        for (const item of list.children) {
          const { bottom, top } = item.getBoundingClientRect(), middle = (top + bottom) / 2;
          if (item !== dragged && y > last && y > middle && item.compareDocumentPosition(dragged) & 2) item.after(dragged);
          if (item !== dragged && y < last && y < middle && item.compareDocumentPosition(dragged) & 4) item.before(dragged);
        }
        last = y;
      };</script>`);
        await session.done({ type: "drag", selector: `li:${from}-child`, to: { selector: `li:${to}-child` } });
        expect(await session.evaluate("document.querySelector('ul').textContent")).toBe(order);
      },
    );

    it("scrolls the page, an inner part, and an element into view", async () => {
      await session.show(
        `<div id=box style="height:100px;width:200px;overflow:auto"><div style="height:1000px">x</div></div><div style="height:3000px"></div><p id=end>end</p>`,
      );
      await session.done({ type: "scroll", delta_y: 400 });
      expect(await session.evaluate("scrollY")).toBe(400);
      await session.done({ type: "scroll", selector: "#box", delta_y: 150 });
      expect(await session.evaluate("box.scrollTop")).toBe(150);
      await session.done({ type: "scroll", selector: "#end" });
      expect(await session.evaluate("end.getBoundingClientRect().bottom <= innerHeight")).toBe(true);
    });
  });

  describe("upload", () => {
    it("chooses files in visible and hidden fields, and with a button", async () => {
      const home = join(session.instance.config.root, "home/shoal");
      await mkdir(home, { recursive: true });
      await writeFile(join(home, "a.txt"), "A");
      await writeFile(join(home, "b.txt"), "B");
      await session.show(`<input type=file id=one><label>Many <input type=file id=many multiple hidden></label>
      <button id=open onclick="const field = document.createElement('input'); field.type = 'file'; field.onchange = () => { this.textContent = field.files[0].name; }; field.click()">Choose</button>`);
      const one = await session.done({ type: "upload", selector: "#one", paths: ["/home/shoal/a.txt"] });
      expect(one.element).toMatchObject({ value: "a.txt" });
      await session.done({ type: "upload", selector: "label", paths: ["/home/shoal/a.txt", "/home/shoal/b.txt"] });
      expect(await session.evaluate("Promise.all([...many.files].map((file) => file.text()))")).toEqual(["A", "B"]);
      const opened = await session.done({ type: "upload", selector: "#open", paths: ["/home/shoal/b.txt"] });
      expect(opened.element).toMatchObject({ name: "b.txt" });
      await session.done({ type: "upload", selector: "#one", paths: [] });
      expect(await session.evaluate("one.files.length")).toBe(0);
      expect(await session.act({ type: "upload", selector: "#one", paths: ["/home/shoal/missing"] })).toMatchObject({
        status: 404,
      });
      expect(await session.act({ type: "upload", selector: "#one", paths: ["/home/shoal"] })).toMatchObject({
        code: "not_a_file",
      });
      expect(
        await session.act({ type: "upload", selector: "#one", paths: ["/home/shoal/a.txt", "/home/shoal/b.txt"] }),
      ).toMatchObject({ status: 400, field: "body.paths" });
    });
  });

  describe("dialogs", () => {
    it("are reported, block other actions, and are answered", async () => {
      await session.show(`<button id=b onclick="this.textContent = prompt('Your name?', 'Ann')">Ask</button>`);
      const opened = await session.done({ type: "click", selector: "#b" });
      expect(opened.dialog).toEqual({ type: "prompt", message: "Your name?", default_text: "Ann" });
      const refused = await session.act({ type: "click", selector: "#b" });
      expect(refused).toMatchObject({ status: 409, code: "dialog_open" });
      await session.done({ type: "answer_dialog", text: "Bob" });
      expect(await session.evaluate("b.textContent")).toBe("Bob");
      expect(await session.act({ type: "answer_dialog" })).toMatchObject({ status: 409 });
    });

    // A headless shell closes dialogs that no client waits for.
    it.skipIf(chromium.kind === "headless_shell")(
      "are known and answered when they opened before the first call on their tab",
      async () => {
        await session.show("<p>first</p>");
        session.page(
          "/early",
          "<p id=name></p><script>document.querySelector('#name').textContent = prompt('Your name?', 'Ann')</script>",
        );
        const socket = await session.instance.connect();
        const client = cdpClient(socket);
        const opened = new Promise((resolve) => {
          socket.on("message", (data: Buffer) => {
            if (data.includes("Page.javascriptDialogOpening")) resolve(undefined);
          });
        });
        const { result } = (await client.send("Target.createTarget", { url: "about:blank" })) as {
          result: { targetId: string };
        };
        const attached = (await client.send("Target.attachToTarget", { ...result, flatten: true })) as {
          result: { sessionId: string };
        };
        await client.send("Page.enable", {}, attached.result.sessionId);
        void client.send("Page.navigate", { url: session.url("/early") }, attached.result.sessionId);
        await opened;
        const { text } = await session.instance.call("POST", "/observe", "{}");
        expect(JSON.parse(text)).toMatchObject({
          dialog: { type: "prompt", message: "Your name?", default_text: "Ann" },
        });
        expect(await session.act({ type: "click", selector: "#name" })).toMatchObject({ code: "dialog_open" });
        const { dialog } = await session.done({ type: "answer_dialog", text: "Bob" });
        expect(dialog).toBeUndefined();
        expect(await session.evaluate("document.querySelector('#name').textContent")).toBe("Bob");
        socket.close();
        await session.done({ type: "close_tab" });
      },
    );

    it("may follow each other", async () => {
      await session.show(`<button id=b onclick="while (confirm('Again?')) ; this.textContent = 'Over'">Ask</button>`);
      let answer = await session.done({ type: "click", selector: "#b" });
      for (let round = 0; round < 3; round++) answer = await session.done({ type: "answer_dialog" });
      expect(answer.dialog).toMatchObject({ type: "confirm" });
      answer = await session.done({ type: "answer_dialog", accept: false });
      expect(answer.dialog).toBeUndefined();
      expect(await session.evaluate("b.textContent")).toBe("Over");
    });
  });

  describe("tabs and navigation", () => {
    it("reports new tabs, and selects and closes them", async () => {
      session.page("/popup", "<title>Popup</title>");
      const { tab: first } = await session.show(`<a href=/popup target=_blank>Open</a>`);
      const opened = await session.done({ type: "click", selector: "a" });
      expect(opened.new_tabs).toMatchObject([{ active: true }]);
      expect(opened).toMatchObject({ tab: opened.new_tabs[0]?.id, title: "Popup" });
      expect(await session.done({ type: "select_tab", tab: first })).toMatchObject({ tab: first });
      expect(await session.done({ type: "hover", selector: "a" })).toMatchObject({ tab: first });
      await session.done({ type: "close_tab", tab: opened.tab });
      const other = await session.done({ type: "open_tab", url: session.url("/popup") });
      expect(other).toMatchObject({ title: "Popup", status: 200 });
      expect(await session.done({ type: "close_tab" })).toMatchObject({ tab: first });
      expect((await session.done({ type: "close_tab" })).url).toBe("about:blank");
    });

    it("waits for the page of a new tab", async () => {
      session.handle("/slow", (_request, response) => {
        setTimeout(
          () => response.writeHead(200, { "content-type": "text/html" }).end("<title>Slow</title><h1>Here</h1>"),
          400,
        );
      });
      await session.show(`<a href=/slow target=_blank>Open</a>`);
      const opened = await session.done({ type: "click", selector: "a", observe: {} });
      expect(opened).toMatchObject({ title: "Slow", settled: true });
      expect(opened.observation?.outline).toContain("Here");
      await session.done({ type: "close_tab" });
    });

    it("reports statuses, failed requests, downloads and addresses without an answer", async () => {
      session.handle("/file", (_request, response) => {
        response.writeHead(200, { "content-disposition": "attachment; filename=report.csv" }).end("a,b");
      });
      expect(await session.done({ type: "navigate", url: session.url("/gone") })).toMatchObject({ status: 404 });
      await session.show(
        `<button onclick="fetch('/api/missing?key=1', { method: 'POST' })">Send</button><a href=/file>File</a>`,
      );
      const sent = await session.done({ type: "click", selector: "button" });
      expect(sent.failed_requests).toEqual([{ method: "POST", url: session.url("/api/missing"), status: 404 }]);
      const saved = await session.done({ type: "click", selector: "a" });
      expect(saved).toMatchObject({ downloads: ["report.csv"], navigated: false });
      expect(await session.done({ type: "navigate", url: session.url("/file") })).toMatchObject({
        downloads: ["report.csv"],
      });
      const refused = await session.act({ type: "navigate", url: "http://127.0.0.1:1/" });
      expect(refused).toMatchObject({ status: 409, code: "navigation_failed" });
      expect(refused.message).toContain("net::ERR_");
      expect(await session.act({ type: "navigate", url: "javascript:alert(1)" })).toMatchObject({ field: "body.url" });
      expect(await session.act({ type: "navigate", url: "an example" })).toMatchObject({ field: "body.url" });
      const typed = new URL(session.url("/gone"));
      expect(await session.done({ type: "navigate", url: `${typed.host}/gone` })).toMatchObject({
        url: `http://${typed.host}/gone`,
        status: 404,
      });
    });

    it("show the page of a site that requires HTTP authentication, and never a password of an address", async () => {
      session.handle("/basic", ({ headers }, response) => {
        const isKnown = headers.authorization === `Basic ${btoa("user:p@ss")}`;
        response
          .writeHead(isKnown ? 200 : 401, {
            "content-type": "text/html",
            ...(!isKnown && { "www-authenticate": 'Basic realm="Harbour"' }),
          })
          .end(isKnown ? "<h1>Welcome</h1><a href=/basic>Again</a>" : "<h1>Sign-in needed</h1>");
      });
      const refused = await session.done({ type: "navigate", url: session.url("/basic", "localhost"), observe: {} });
      expect([refused.status, refused.observation?.outline]).toEqual([401, 'heading 1 "Sign-in needed"']);
      const url = session.url("/basic").replace("://", "://user:p%40ss@");
      const welcome = await session.done({ type: "navigate", url, observe: {} });
      expect([welcome.status, welcome.observation?.outline]).toEqual([200, expect.stringContaining("Welcome")]);
      expect(welcome.url).toBe(session.url("/basic"));
      const { text } = await session.instance.call("POST", "/read", JSON.stringify({ links: true }));
      expect(JSON.stringify([welcome, text])).not.toMatch(/p%40ss|p@ss/);
    });

    it("goes back, forward, and reloads", async () => {
      await session.done({ type: "open_tab" });
      const first = await session.show("<title>First</title>");
      await session.show("<title>Second</title>");
      expect(await session.done({ type: "back" })).toMatchObject({ title: "First", url: first.url });
      expect(await session.done({ type: "reload" })).toMatchObject({ title: "First", navigated: true });
      expect(await session.done({ type: "forward" })).toMatchObject({ title: "Second" });
      expect(await session.act({ type: "forward" })).toMatchObject({ status: 409, code: "navigation_failed" });
      await session.done({ type: "close_tab" });
    });
  });

  describe("wait_for", () => {
    it("waits for texts, elements and addresses", async () => {
      await session.show(`<p id=p>Loading</p><button id=b disabled>Go</button><script>
      setTimeout(() => { p.textContent = "All   Done"; b.disabled = false; history.pushState(0, "", "/ready?id=1"); }, 150);</script>`);
      await session.done({ type: "wait_for", text: "all done" });
      await session.done({ type: "wait_for", text: "Loading", state: "hidden" });
      expect((await session.done({ type: "wait_for", selector: "#b", state: "enabled" })).element).toMatchObject({
        name: "Go",
      });
      await session.done({ type: "wait_for", url: "*/ready?*" });
    });

    it("waits for texts in closed shadow roots", async () => {
      await session.show(`<div id=h></div><script>const root = h.attachShadow({ mode: "closed" });
      root.innerHTML = "<div></div><p style='opacity:0'>Ghost</p>"; const inner = root.firstChild.attachShadow({ mode: "closed" }); inner.innerHTML = "<p>Loading <b>now</b></p>";
      setTimeout(() => { inner.innerHTML = "<p>All <b>done</b></p>"; }, 1_500);</script>`);
      await session.done({ type: "wait_for", text: "loading now" });
      await session.done({ type: "wait_for", text: "Ghost", state: "hidden" });
      await session.done({ type: "wait_for", text: "loading now", state: "hidden" });
      await session.done({ type: "wait_for", text: "all done", timeout_ms: 2_000 });
      const refused = await session.act({ type: "wait_for", text: "all done", state: "hidden", timeout_ms: 100 });
      expect(refused).toMatchObject({ status: 409, code: "wait_timeout" });
    });

    it("waits for missing elements, and ends at its limit", async () => {
      await session.show(`<p>Here</p>`);
      await session.done({ type: "wait_for", selector: "#none", state: "hidden" });
      const refused = await session.act({ type: "wait_for", text: "Never", timeout_ms: 100 });
      expect(refused).toMatchObject({ status: 409, code: "wait_timeout", limit: 100 });
    });
  });

  describe("hostile pages", () => {
    it("may close themselves on a click", async () => {
      const opened = await session.show(
        `<a id=a href=/x onclick="window.open('/closing', 'w'); return false">Open</a>`,
      );
      session.page("/closing", `<button onclick="window.close()">Close</button>`);
      const popup = await session.done({ type: "click", selector: "a" });
      expect(popup.tab).not.toBe(opened.tab);
      expect(await session.done({ type: "click", selector: "button" })).toMatchObject({ tab: opened.tab });
    });

    it("may block their main thread", async () => {
      await session.show(
        `<button onclick="const end = performance.now() + 8000; while (performance.now() < end);">Block</button>`,
      );
      const began = performance.now();
      const answer = await session.act({ type: "click", selector: "button", timeout_ms: 600 });
      expect(answer).toMatchObject({ settled: false });
      expect(performance.now() - began).toBeLessThan(7_900);
      const refused = await session.act({ type: "click", selector: "button", timeout_ms: 200 });
      expect(refused).toMatchObject({ status: 409, code: "page_not_responding" });
      await session.done({ type: "wait_for", selector: "button", timeout_ms: 30_000 });
    });
  });

  it("acts one after another in one tab", async () => {
    await session.show(`<input id=f>`);
    await Promise.all(
      ["a", "b", "c", "d"].map((key) => session.done({ type: "press", selector: "#f", keys: [key, key, key] })),
    );
    expect(await session.evaluate("f.value")).toMatch(/^(?:aaa|bbb|ccc|ddd){4}$/);
  });
});
