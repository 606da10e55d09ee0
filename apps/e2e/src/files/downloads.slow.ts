import { createHash } from "node:crypto";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

const folder = "/home/shoal/Downloads";

describe.each(placements)("downloads in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    let site: Site;
    beforeAll(async () => {
      site = await serveSite((request, response) => {
        const name = /^\/file\/([\w.]+)/.exec(request.url ?? "")?.[1];
        if (name !== undefined)
          response.setHeader("content-disposition", `attachment; filename=${name}`).end(`content of ${name}`);
        else
          response
            .setHeader("content-type", "text/html")
            .end(`<a href="/file/${(request.url ?? "").slice(1)}">download</a>`);
      });
    });
    afterAll(async () => {
      await site.close();
    });
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    const session = useSession(test);
    const address = async () => (await test.shoal.browsers.get(session.id)).cdp_ws_url;
    const text = async (path: string) => new Response((await session.fs.readFile(session.id, { path })).stream).text();
    const names = async (path = folder) =>
      (await session.fs.listFiles(session.id, { path })).map(({ name }) => name).sort();

    it("by Playwright arrive in the watched folder under their own names, as the README says", async () => {
      const { watch_id } = await session.fs.watch.start(session.id, { path: folder });
      const seen = (async () => {
        const paths: string[] = [];
        for await (const event of session.fs.watch.events(session.id, watch_id)) {
          if (event.type === "CREATE") paths.push(event.path);
          if (paths.length === 3) break;
        }
        return paths;
      })();
      const browser = await chromium.connectOverCDP(await address());
      const first = browser.contexts()[0];
      for (const context of [first, first, await browser.newContext()]) {
        const page = await context?.newPage();
        await page?.goto(`${site.url}report.pdf`);
        const [download] = await Promise.all([page?.waitForEvent("download"), page?.click("a")]);
        expect(download?.suggestedFilename()).toBe("report.pdf");
        expect(await download?.failure()).toBeNull();
      }
      // A file is complete when the client receives its event.
      expect(await names()).toEqual(["report (1).pdf", "report (2).pdf", "report.pdf"]);
      await browser.close();
      expect(await seen).toEqual([`${folder}/report.pdf`, `${folder}/report (1).pdf`, `${folder}/report (2).pdf`]);
      expect(await text(`${folder}/report (2).pdf`)).toBe("content of report.pdf");
    });

    it("are listed with their checksum and origin, and can be awaited one after another", async () => {
      const { downloads } = test.shoal.browsers;
      const seen: string[] = [];
      for (let after: string | undefined; seen.length < 3;) {
        const download = await downloads.waitForDownload(session.id, { after, timeoutMs: 120_000 });
        expect(download).toMatchObject({
          state: "completed",
          name: "report.pdf",
          size_bytes: 21,
          sha256: createHash("sha256").update("content of report.pdf").digest("hex"),
          origin_url: `${site.url}file/report.pdf`,
        });
        const { stream, fileName } = await downloads.read(session.id, download.download_id);
        expect(fileName).toBe("report.pdf");
        expect(await new Response(stream).text()).toBe("content of report.pdf");
        seen.push(download.path ?? "");
        after = download.download_id;
      }
      expect(seen.sort()).toEqual([`${folder}/report (1).pdf`, `${folder}/report (2).pdf`, `${folder}/report.pdf`]);
      const first = await downloads.list(session.id, { limit: 2 });
      expect(first.hasMore).toBe(true);
      const all = [];
      for await (const download of first) all.push(download.download_id);
      expect(new Set(all).size).toBe(3);
      await expect(downloads.waitForDownload(session.id, { after: all[0], timeoutMs: 0 })).rejects.toThrow("0 ms");
    });

    it("that Playwright refuses are not kept", async () => {
      const browser = await chromium.connectOverCDP(await address());
      const context = await browser.newContext({ acceptDownloads: false });
      const page = await context.newPage();
      await page.goto(`${site.url}refused.txt`);
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("a")]);
      expect(await download.failure()).not.toBeNull();
      await browser.close();
      expect(await names()).not.toContain("refused.txt");
      // The client may receive the event first.
      await expect
        .poll(async () => (await test.shoal.browsers.downloads.list(session.id)).items[0])
        .toMatchObject({ state: "canceled", name: "refused.txt", path: null });
    });

    it("by Puppeteer arrive, also from a separate context, and with a folder of the client's machine", async () => {
      const browser = await puppeteer.connect({
        browserWSEndpoint: await address(),
        defaultViewport: null,
        downloadBehavior: { policy: "allowAndName", downloadPath: "/client/only" },
      });
      const plain = await browser.createBrowserContext();
      for (const [context, name] of [
        [browser.defaultBrowserContext(), "default.txt"],
        [plain, "context.txt"],
      ] as const) {
        const page = await context.newPage();
        await page.goto(`${site.url}${name}`);
        await page.click("a");
        await expect.poll(() => names()).toContain(name);
      }
      await plain.close();
      await browser.disconnect();
    });

    it("of a plain CDP client also go to the folder that it sets, until it disconnects", async () => {
      const socket = new WebSocket(await address());
      await new Promise((resolve) => socket.once("open", resolve));
      let id = 0;
      const send = (method: string, params: object) =>
        new Promise<object>((resolve) => {
          const sent = ++id;
          socket.on("message", (data: Buffer) => {
            const message = JSON.parse(data.toString()) as { id?: number };
            if (message.id === sent) resolve(message);
          });
          socket.send(JSON.stringify({ id: sent, method, params }));
        });
      expect(
        await send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: "/tmp/chosen" }),
      ).toHaveProperty("result");
      // Other clients do not change the folder.
      await (await puppeteer.connect({ browserWSEndpoint: await address(), defaultViewport: null })).disconnect();
      await send("Target.createTarget", { url: `${site.url}file/plain.txt` });
      await expect.poll(() => names("/tmp/chosen").catch(() => [])).toEqual(["plain.txt"]);
      await expect.poll(() => names()).toContain("plain.txt");
      socket.close();
      await new Promise((resolve) => socket.once("close", resolve));
      const run = (code: string) => test.shoal.browsers.playwright.execute(session.id, { code });
      // The page downloads after the last client has disconnected.
      await run(
        `await page.goto("${site.url}left.txt"); await page.evaluate(() => void setTimeout(() => document.querySelector("a").click(), 500));`,
      );
      await expect.poll(() => names()).toContain("left.txt");
    });

    it("of Playwright code in the session arrive, and the code can read them", async () => {
      const { result } = await test.shoal.browsers.playwright.execute(session.id, {
        code: `await page.goto("${site.url}code.txt");
          const [download] = await Promise.all([page.waitForEvent("download"), page.click("a")]);
          await download.saveAs("copy.txt");
          return (await import("node:fs")).readFileSync(await download.path(), "utf8");`,
      });
      expect(result).toBe("content of code.txt");
      expect(await text(`${folder}/code.txt`)).toBe("content of code.txt");
      expect(await text("/home/shoal/copy.txt")).toBe("content of code.txt");
    });

    it("add no other files to the session's home", async () => {
      await expect.poll(() => names("/home/shoal/.incoming-downloads")).toEqual([]);
    });
  });
});
