import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import puppeteer, { type ElementHandle } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

const pages: Readonly<Record<string, string>> = {
  "/": "<title>start</title><a id=file href=\"/report.txt\" download>report</a><a id=popup target=_blank href=\"/popup\">popup</a><input type=file id=upload><button onclick=\"fetch('/upload', { method: 'POST', body: document.querySelector('#upload').files[0] }).then((answer) => answer.text()).then((text) => (document.title = text))\">send</button>",
  "/popup": "<title>popup</title><h1>popup</h1>",
};

describe.each(placements)("automation clients, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    let site: Site;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "shoal-client-"));
      site = await serveSite((request, response) => {
        if (request.url === "/report.txt")
          response.setHeader("content-disposition", "attachment; filename=report.txt").end("the report");
        else if (request.url === "/upload") {
          let bytes = 0;
          request.on("data", (chunk: Buffer) => (bytes += chunk.length)).on("end", () => response.end(`got ${bytes}`));
        } else response.setHeader("content-type", "text/html").end(pages[request.url ?? "/"] ?? "");
      });
      await writeFile(join(folder, "big.bin"), Buffer.alloc(3_000_000, 7));
    });
    afterAll(async () => {
      await site.close();
      await rm(folder, { recursive: true, force: true });
    });
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    const session = useSession(test);

    it("playwright-core does real work over cdp_ws_url", async () => {
      const { cdp_ws_url: address } = await test.shoal.browsers.get(session.id);
      const browser: Browser = await chromium.connectOverCDP(address);
      const context = await browser.newContext({ acceptDownloads: true });
      await context.tracing.start({ screenshots: true, snapshots: true });
      const page = await context.newPage();
      await page.goto(site.url);
      const [popup] = await Promise.all([page.waitForEvent("popup"), page.click("#popup")]);
      expect(await popup.textContent("h1")).toBe("popup");
      await popup.close();
      // The client's own file is sent over the connection.
      await page.setInputFiles("#upload", join(folder, "big.bin"));
      await page.click("button");
      await page.waitForFunction(() => document.title.startsWith("got"));
      expect(await page.title()).toBe("got 3000000");
      expect((await page.screenshot()).subarray(1, 4).toString()).toBe("PNG");
      await context.tracing.stop({ path: join(folder, "trace.zip") });
      expect(readFileSync(join(folder, "trace.zip")).subarray(0, 2).toString()).toBe("PK");
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#file")]);
      expect(download.suggestedFilename()).toBe("report.txt");
      expect(await download.failure()).toBeNull();
      await context.close();
      await browser.close();
      expect((await test.shoal.browsers.get(session.id)).browser_restarts).toBe(0);
    });

    it("puppeteer-core does real work, and its downloads are in the session's files", async () => {
      const { cdp_ws_url: address } = await test.shoal.browsers.get(session.id);
      const browser = await puppeteer.connect({ browserWSEndpoint: address, defaultViewport: null });
      const page = await browser.newPage();
      await page.goto(site.url);
      const opened = new Promise<string>((resolve) => {
        page.once("popup", (popup) => {
          void popup
            ?.waitForSelector("h1")
            .then(() => popup.title())
            .then(resolve);
        });
      });
      await page.click("#popup");
      expect(await opened).toBe("popup");
      await test.shoal.browsers.fs.writeFile(session.id, Buffer.alloc(2_000_000, 1), {
        path: "/home/shoal/in-session.bin",
      });
      const client = await page.createCDPSession();
      const { root } = await client.send("DOM.getDocument");
      const { nodeId } = await client.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#upload" });
      // A path in the session, equal in both placements.
      await client.send("DOM.setFileInputFiles", { nodeId, files: ["/home/shoal/in-session.bin"] });
      await page.click("button");
      await page.waitForFunction(() => document.title.startsWith("got"));
      expect(await page.title()).toBe("got 2000000");
      await page.click("#file");
      await expect
        .poll(async () =>
          (await test.shoal.browsers.fs.listFiles(session.id, { path: "/home/shoal/Downloads" })).map(
            ({ name }) => name,
          ),
        )
        .toContain("report.txt");
      await page.close();
      await browser.close();
      expect((await test.shoal.browsers.get(session.id)).browser_restarts).toBe(0);
    });

    it("tells each client how to upload files that are only on its machine", async () => {
      const here = await mkdtemp(join(tmpdir(), "shoal-here-"));
      const file = join(here, "cv.txt");
      await writeFile(file, "local");
      const { cdp_ws_url: address, webdriver_ws_url: bidiAddress } = await test.shoal.browsers.get(session.id);
      const problem = /does not exist in the session.*browsers\.fs\.upload/;
      const size = () => document.querySelector<HTMLInputElement>("#upload")?.files?.[0]?.size ?? 0;
      try {
        const playwright = await chromium.connectOverCDP(address);
        const page = await (await playwright.newContext()).newPage();
        await page.goto(site.url);
        const client = await page.context().newCDPSession(page);
        const { root } = await client.send("DOM.getDocument");
        const { nodeId } = await client.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#upload" });
        await expect(client.send("DOM.setFileInputFiles", { nodeId, files: [file] })).rejects.toThrow(problem);
        await page.setInputFiles("#upload", { name: "cv.txt", mimeType: "text/plain", buffer: Buffer.from("content") });
        expect(await page.evaluate(size)).toBe(7);
        const repeatedMs = 1_000; // Playwright repeats the refused command until its timeout.
        await page.evaluate(() => document.querySelector("#upload")?.setAttribute("webkitdirectory", ""));
        await expect(page.setInputFiles("#upload", here, { timeout: repeatedMs })).rejects.toThrow("Timeout 1000ms");
        await playwright.close();

        const withPuppeteer = await puppeteer.connect({ browserWSEndpoint: address, defaultViewport: null });
        const tab = await withPuppeteer.newPage();
        await tab.goto(site.url);
        const input = (await tab.$("#upload")) as ElementHandle<HTMLInputElement>;
        await expect(input.uploadFile(file)).rejects.toThrow(problem);
        expect(await tab.evaluate(size)).toBe(0);
        await tab.close();
        await withPuppeteer.disconnect();

        const bidi = await puppeteer.connect({ browserWSEndpoint: bidiAddress, protocol: "webDriverBiDi" });
        const other = await bidi.newPage();
        await other.goto(site.url);
        const element = (await other.$("#upload")) as ElementHandle<HTMLInputElement>;
        await expect(element.uploadFile(file)).rejects.toThrow(problem);
        await other.close();
        await bidi.disconnect();
      } finally {
        await rm(here, { recursive: true });
      }
    });

    it("runs Playwright code in the session", async () => {
      const run = (code: string, more = {}) => test.shoal.browsers.playwright.execute(session.id, { code, ...more });
      expect(
        await run(
          `await page.goto(${JSON.stringify(site.url)}); console.log("at", page.url()); return await page.title();`,
        ),
      ).toEqual({
        success: true,
        result: "start",
        stdout: `at ${site.url}\n`,
        stderr: "",
        tab: { created: false, target_id: expect.any(String) as string },
      });
      expect(await run("const n: number = 2;\nthrow new Error('no ' + n);")).toMatchObject({
        success: false,
        error: "Error: no 2\n    at code.ts:2:7",
      });
      // The code sees the files of the session's home.
      await test.shoal.browsers.fs.writeFile(session.id, "from the session", { path: "/home/shoal/note.txt" });
      const wrote = await run(
        "const fs = await import('node:fs/promises'); await fs.writeFile('back.txt', await fs.readFile('note.txt', 'utf8')); await page.setInputFiles('#upload', 'note.txt'); return page.evaluate(() => document.querySelector('#upload').files[0].name);",
      );
      expect(wrote).toMatchObject({ success: true, result: "note.txt" });
      expect(
        await new Response(
          (await test.shoal.browsers.fs.readFile(session.id, { path: "/home/shoal/back.txt" })).stream,
        ).text(),
      ).toBe("from the session");
      const saved = await run(
        "const [download] = await Promise.all([page.waitForEvent('download'), page.click('#file')]); await download.saveAs('Downloads/by-code.txt'); return download.suggestedFilename();",
      );
      expect(saved).toMatchObject({ success: true, result: "report.txt" });
      expect(
        (await test.shoal.browsers.fs.listFiles(session.id, { path: "/home/shoal/Downloads" })).map(({ name }) => name),
      ).toContain("by-code.txt");
      // The page in front is the one opened last.
      expect(await run("await context.newPage(); return context.pages().length")).toMatchObject({ success: true });
      expect(await run("return page.url()")).toMatchObject({ result: "about:blank" });
      expect(await run("while (true);", { timeout_sec: 5 })).toMatchObject({
        success: false,
        error: expect.stringContaining("timeout_sec") as string,
      });
      expect(await run("return 'next'")).toMatchObject({ result: "next" });
      // In a box, only the browser has network access; the process placement does not isolate.
      const reached = await run(`return fetch(${JSON.stringify(site.url)}).then(() => "reached", () => "refused")`);
      expect(reached.result).toBe(placement === "sandbox" ? "refused" : "reached");
    });
  });
});
