import type { ReplResult } from "@shoal/schemas";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { killBrowser } from "../../testing/processes.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";

describeChromium("the REPL", (chromium) => {
  let instance: RunningInstance;
  let site: Server;
  let origin: string;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await mkdir(join(instance.config.root, "home/shoal"), { recursive: true });
    await instance.assign({ timeout_seconds: 300 });
    site = createServer(({ url }, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<title>${String(url)}</title><h1>Hello</h1><label>Name <input id="name"></label>
        <button onclick="document.title = 'Hi ' + document.querySelector('input').value">Greet</button><input type="file">`);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => site.once("listening", resolve));
    origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  });
  afterAll(async () => {
    site.close();
    await instance[Symbol.asyncDispose]();
  });

  const call = async (body: object) => {
    const { status, text } = await instance.call("POST", "/repl", JSON.stringify(body));
    return { status, answer: JSON.parse(text) as ReplResult & { code?: string; field?: string } };
  };
  const run = async (code: string, more: object = {}): Promise<ReplResult> => {
    const { answer, status } = await call({ code, ...more });
    if (status !== 200) throw new Error(JSON.stringify(answer));
    return answer;
  };
  /** Runs code that must not fail, and returns its output as one text. */
  const shown = async (code: string): Promise<string> => {
    const { content, error, stack } = await run(code);
    if (error !== undefined) throw new Error(stack ?? error);
    return content.map(({ text }) => text).join("");
  };

  describe("keeps", () => {
    it("declarations, closures, timers and modules, and accepts a declaration again", async () => {
      await run("let count = 1; const one = 1; class Box {}; function add() { return ++count }");
      await shown("const { basename } = await import('node:path'); var later = 0");
      expect(await shown("add(); const one = 2; repl.write([count, one, typeof Box, basename('/a/b')].join())")).toBe(
        "2,2,function,b",
      );
      await run("setTimeout(() => { later = 1; console.log('rang') }, 1)");
      expect(await shown("while (later !== 1) await waitMs(5); console.log(later)")).toBe("rang\n1\n");
    });

    it("its state after a syntax error, an exception and a restart of the browser", async () => {
      const { repl_id } = await run("var kept = 'kept'");
      expect(await run("a b")).toMatchObject({
        repl_id,
        success: false,
        error: "SyntaxError: Unexpected identifier 'b'",
      });
      expect(await run("import fs from 'node:fs'")).toMatchObject({ repl_id, success: false });
      expect(await run("return 1")).toMatchObject({ repl_id, error: "SyntaxError: Illegal return statement" });
      const failed = await run("const n = 1;\nconsole.log('before');\nnull.x");
      expect(failed).toMatchObject({
        repl_id,
        success: false,
        repl_terminated: false,
        content: [{ type: "text", channel: "stdout", text: "before\n" }],
        error: "TypeError: Cannot read properties of null (reading 'x')",
      });
      expect(failed.stack).toMatch(/\n {4}at cell-\d+\.js:3:6$/);
      expect(await run("throw 'text'")).toMatchObject({ repl_id, success: false, error: "The code threw 'text'" });
      await run("await gotoUrl('about:blank')");
      killBrowser(instance.config.session_dir);
      await expect.poll(async () => (await run("await pageInfo()")).success).toBe(true);
      expect(await run("repl.write(kept)")).toMatchObject({ repl_id, content: [{ text: "kept" }] });
    });

    it("the order of output, and cuts output beyond the limit", async () => {
      const { content, content_truncated } = await run(
        "repl.write({ a: 1 }); console.log('out'); console.error('err'); repl.write('end')",
      );
      expect(content_truncated).toBe(false);
      expect(content).toEqual([
        { type: "text", channel: "write", text: "{ a: 1 }" },
        { type: "text", channel: "stdout", text: "out\n" },
        { type: "text", channel: "stderr", text: "err\n" },
        { type: "text", channel: "write", text: "end" },
      ]);
      const cut = await run("repl.write('x'.repeat(1_000_001)); repl.write('y')");
      expect(cut).toMatchObject({ success: true, content_truncated: true });
      expect(cut.content).toHaveLength(1);
      expect(await shown("repl.write('z')")).toBe("z");
    });
  });

  describe("starts another process", () => {
    it("on request, which code that is empty may ask for", async () => {
      const { repl_id } = await run("var gone = 1");
      const fresh = await run("", { reset: true });
      expect(fresh).toMatchObject({ success: true, content: [], repl_terminated: false });
      expect(fresh.repl_id).not.toBe(repl_id);
      expect(await run("repl.write(typeof gone)")).toMatchObject({
        repl_id: fresh.repl_id,
        content: [{ text: "undefined" }],
      });
      expect(await call({ code: "" })).toMatchObject({ status: 400, answer: { field: "body.code" } });
    });

    it("after a timeout, an exit, and an error between calls, which the next answer names", async () => {
      // Another process must start within the time.
      let seconds = 1;
      const runEndless = () => run("console.log('begun'); for (;;);", { timeout_sec: seconds });
      let endless = await runEndless();
      for (; endless.content.length === 0 && seconds < 256; endless = await runEndless()) seconds *= 2;
      expect(endless).toMatchObject({ success: false, repl_terminated: true });
      expect(endless.content.at(-1)).toMatchObject({ text: "begun\n" });
      expect(endless.error).toContain(`within ${String(seconds)} s (timeout_sec)`);
      const ended = await run("process.exit(3)");
      expect(ended).toMatchObject({ success: false, repl_terminated: true });
      expect(ended.error).toBe("The process of the REPL ended with exit code 3.");
      expect(ended.repl_id).not.toBe(endless.repl_id);
      // The process may end during any of these calls.
      let told = "";
      const tell = async (code: string) => {
        const { content, error = "" } = await run(code);
        return (told += content.map(({ text }) => text).join("") + error);
      };
      await tell("setTimeout(() => { console.log('why'); throw new Error('too late') }, 1)");
      await expect.poll(() => tell("1")).toMatch(/^why[^]*too late/);
      const rejected = await run("Promise.reject(new Error('no one waits')); await waitMs(60_000)");
      expect(rejected).toMatchObject({ success: false, repl_terminated: true, error: "Error: no one waits" });
    });

    it("when its client disconnects", async () => {
      const { repl_id } = await run("1");
      const body = JSON.stringify({ code: `fetch("${origin}/begun"); await waitMs(60_000)` });
      const begun = new Promise((resolve) => site.on("request", resolve));
      const { listen_path } = instance.config as unknown as { listen_path: string };
      const running = request({
        socketPath: listen_path,
        method: "POST",
        path: "/repl",
        headers: { "content-type": "application/json" },
      });
      running.on("error", () => undefined).end(body);
      await begun;
      const waiting = run("1");
      running.destroy();
      expect((await waiting).repl_id).not.toBe(repl_id);
    });
  });

  describe("has helpers that", () => {
    it("read and use a page, by selectors, nodes and points", async () => {
      await run(`await gotoUrl(${JSON.stringify(`${origin}/first`)})`);
      expect(await shown("const { title, w } = await pageInfo(); repl.write(title + (w > 0))")).toBe("/firsttrue");
      await run(`const shot = await accessibilitySnapshot();
        const node = (role, name) => shot.nodes.find((n) => n.role === role && (name === undefined || n.name === name));
        await fillInput(node("textbox", "Name"), "Ada");
        await click(node("button"));`);
      expect(await shown("repl.write((await browser.pageInfo()).title)")).toBe("Hi Ada");
      await run("await click('#name'); await pressKey('Control+A'); await typeText('Bob'); await click('text=Greet')");
      expect(await shown("repl.write(await js(() => document.title))")).toBe("Hi Bob");
      expect(await shown("repl.write(await js((n) => n + 1, { arg: 1 }))")).toBe("2");
      expect(await shown("repl.write(await waitForElement('#none', { timeoutSec: 0.1 }))")).toBe("false");
      const covered = await run("await click('#none', { timeoutSec: 0.1 })");
      expect(covered.error).toContain("TimeoutError");
    });

    it("use tabs, CDP, pictures, files and HTTP", async () => {
      await writeFile(join(instance.config.root, "home/shoal/up.txt"), "up");
      const url = JSON.stringify(`${origin}/second`);
      expect(
        await shown(`const before = await currentTab(); const id = await newTab(${url});
          repl.write([(await listTabs()).length, (await currentTab()).title, id === before.targetId].join());
          await closeTab(); await switchTab(before.targetId);`),
      ).toBe("2,/second,false");
      expect(await shown("repl.write((await cdp('Runtime.evaluate', { expression: '6 * 7' })).result.value)")).toBe(
        "42",
      );
      expect(
        await shown(`await cdp("Page.enable"); const loaded = waitForEvent("Page.loadEventFired"); await gotoUrl(${url});
          repl.write(typeof (await loaded).timestamp); repl.write(String(drainEvents().length > 0))`),
      ).toBe("numbertrue");
      await run("await uploadFile('[type=file]', 'up.txt')");
      expect(await shown("repl.write(await js(() => document.querySelector('[type=file]').files[0].name))")).toBe(
        "up.txt",
      );
      const picture = await run("repl.emitImage({ path: await captureScreenshot('shot.png', false, 100) })");
      expect(picture.content).toMatchObject([{ type: "image", mime_type: "image/png" }]);
      const png = Buffer.from(picture.content[0]?.data_b64 ?? "", "base64");
      expect(Math.max(png.readUInt32BE(16), png.readUInt32BE(20))).toBe(100);
      expect((await run("repl.emitImage({ path: 'up.txt' })")).error).toContain("is not a PNG");
      expect(await shown("repl.write((await fetch(process.env.CDP_ENDPOINT.replace('ws:', 'http:'))).status)")).toMatch(
        /\d/,
      );
    });

    it("leave dialogs open, and are listed", async () => {
      await run(
        `await gotoUrl(${JSON.stringify(`${origin}/third`)}); setTimeout(() => js(() => { confirm("Buy?") }).catch(() => 0), 1)`,
      );
      await expect.poll(async () => shown("repl.write((await pageInfo()).dialog?.message ?? '')")).toBe("Buy?");
      await run("await cdp('Page.handleJavaScriptDialog', { accept: true })");
      expect(await shown("repl.write((await pageInfo()).title)")).toBe("/third");
      const [listed, names] = [await shown("repl.help()"), await shown("repl.write(Object.keys(browser).join())")];
      for (const name of names.split(",")) expect(listed).toMatch(new RegExp(`^(?:await )?${name}[.(]`, "m"));
      expect(await shown("repl.help('click')")).toMatch(/^await click\(/);
    });

    it("leave an empty tab in place of the last one", async () => {
      const code =
        "for (const { targetId } of await listTabs()) await closeTab(targetId); repl.write((await currentTab()).url)";
      expect(await shown(code)).toBe("about:blank");
    });
  });
});
