import Browserbase from "@browserbasehq/sdk";
import { eventually } from "@shoal/testkit";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { firstFileIn, namesIn } from "../testing/zip.ts";

const form = `<!doctype html><title>shop</title><input type="file" onchange="document.title = this.files[0].name">
<a href="/report.csv" download>report</a>`;

let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    if (request.url === "/report.csv") {
      response.setHeader("content-disposition", 'attachment; filename="report.csv"').end("a,b\n");
      return;
    }
    if (request.url === "/sign-in") response.setHeader("set-cookie", "user=ann; Max-Age=3600; Path=/");
    response.setHeader("content-type", "text/html").end(form);
  });
});
afterAll(() => site.close());

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `clients of Browserbase${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "browserbase"],
      ...["--download-retention-hours", "1"],
    ]);
    const sdk = (apiKey = test.service.apiKey) =>
      new Browserbase({ apiKey, baseURL: `${test.service.baseUrl}/browserbase`, maxRetries: 0 });

    async function open(connectUrl: string): Promise<{ page: Page; close: () => Promise<void> }> {
      const browser = await chromium.connectOverCDP(connectUrl);
      return { page: await firstPageOf(browser), close: () => browser.close() };
    }

    const statusOf = async (id: string) => (await sdk().sessions.retrieve(id)).status;
    const ended = (id: string) =>
      eventually("the session has ended", async () => {
        const status = await statusOf(id);
        return status === "RUNNING" ? undefined : status;
      });

    it("the SDK creates a session, and it ends after its last client", async () => {
      const { connectUrl, id, ...session } = await sdk().sessions.create({
        browserSettings: { viewport: { width: 1000, height: 700 } },
        userMetadata: { order: { id: "7" } },
      });
      expect(session).toMatchObject({ status: "RUNNING", keepAlive: false, userMetadata: { order: { id: "7" } } });
      const { close, page } = await open(connectUrl);
      await test.shoal.browsers.update(id, { disconnect_timeout_seconds: 0 });
      await page.goto(site.url);
      expect(await page.title()).toBe("shop");
      const live = await sdk().sessions.debug(id);
      expect(live.pages.map(({ title, url }) => [title, url])).toEqual([["shop", site.url]]);
      expect((await fetch(live.debuggerFullscreenUrl)).status).toBe(200);
      const found = await sdk().sessions.list({ q: "user_metadata['order']['id']:'7'", status: "RUNNING" });
      expect(found.map(({ id: each }) => each)).toEqual([id]);
      expect((await test.shoal.browsers.get(id)).origin).toEqual({
        dialect: "browserbase",
        metadata: { order: { id: "7" } },
      });
      await close();
      expect(await ended(id)).toBe("COMPLETED");
    });

    it("the SDK keeps a session alive, and releases it, also twice", async () => {
      const { connectUrl, id } = await sdk().sessions.create({ keepAlive: true });
      for (const title of ["first", "second"]) {
        const { close, page } = await open(connectUrl);
        await page.setContent(`<title>${title}</title>`);
        expect(await page.title()).toBe(title);
        await close();
      }
      for (const _attempt of [1, 2])
        expect((await sdk().sessions.update(id, { status: "REQUEST_RELEASE" })).status).toBe("COMPLETED");
    });

    it("the SDK uploads a file for a form, and gets downloads during and after the session", async () => {
      const { connectUrl, id } = await sdk().sessions.create({ keepAlive: true, api_timeout: 600 });
      const { close, page } = await open(connectUrl);
      await page.goto(site.url);
      await sdk().sessions.uploads.create(id, { file: new File(["hello"], "letter.txt") });
      const cdp = await page.context().newCDPSession(page);
      const { root } = await cdp.send("DOM.getDocument");
      const { nodeId } = await cdp.send("DOM.querySelector", { nodeId: root.nodeId, selector: "input" });
      await cdp.send("DOM.setFileInputFiles", { files: ["/tmp/.uploads/letter.txt"], nodeId });
      await page.waitForFunction("document.title === 'letter.txt'");

      await page.evaluate("document.querySelector('a').click()");
      const archive = async () => Buffer.from(await (await sdk().sessions.downloads.list(id)).arrayBuffer());
      const early = await eventually("the download is in the archive", async () => {
        const zip = await archive();
        return namesIn(zip).length > 0 ? zip : undefined;
      });
      await close();
      await sdk().sessions.update(id, { status: "REQUEST_RELEASE" });
      for (const zip of [early, await archive()]) {
        expect(namesIn(zip)).toEqual(["report.csv"]);
        expect(firstFileIn(zip)).toBe("a,b\n");
      }
    });

    it("the SDK keeps a sign-in in a context", async () => {
      const { id: contextId } = await sdk().contexts.create({ name: "shop" });
      const first = await sdk().sessions.create({ browserSettings: { context: { id: contextId, persist: true } } });
      const one = await open(first.connectUrl);
      await one.page.goto(`${site.url}sign-in`);
      await one.close();
      await sdk().sessions.update(first.id, { status: "REQUEST_RELEASE" });
      const second = await sdk().sessions.create({ browserSettings: { context: { id: contextId } } });
      expect(second.contextId).toBe(contextId);
      const two = await open(second.connectUrl);
      await two.page.goto(site.url);
      expect(await two.page.context().cookies()).toMatchObject([{ name: "user", value: "ann" }]);
      await two.close();
      await sdk().sessions.update(second.id, { status: "REQUEST_RELEASE" });
      expect(await sdk().contexts.retrieve(contextId)).toMatchObject({ id: contextId, name: "shop" });
      await sdk().contexts.delete(contextId);
      await expect(sdk().contexts.retrieve(contextId)).rejects.toThrow("404");
    });

    it("the SDK reads logs and recordings of a session that requires them", async () => {
      const { connectUrl, id } = await sdk().sessions.create({
        keepAlive: true,
        browserSettings: { logSession: true, recordSession: true },
      });
      const { close, page } = await open(connectUrl);
      await page.goto(site.url);
      await page.evaluate("console.log('from the page')");
      const logs = await eventually("the log has the page", async () => {
        const found = await sdk().sessions.logs.list(id);
        return JSON.stringify(found).includes("from the page") ? found : undefined;
      });
      expect(logs).toContainEqual(expect.objectContaining({ method: "Network.responseReceived", sessionId: id }));
      await close();
      await sdk().sessions.update(id, { status: "REQUEST_RELEASE" });
      const film = await eventually("the film is complete", async () => {
        const { downloads } = await sdk().sessions.recording.downloads.list(id);
        return downloads[0]?.downloadUrl;
      });
      // Also where session content has another origin; a token of the session would open its browser.
      expect(film).toMatch(/\/browser\/replay\/[\w.-]+\/film$/);
      const answer = await fetch(film);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "video/mp4"]);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1000);
    });

    it("the SDK shows the sentence of a refusal", async () => {
      await expect(sdk("wrong").projects.list()).rejects.toThrow(/^401 .*API key/);
      await expect(sdk().sessions.create({ browserSettings: { os: "mobile" } })).rejects.toThrow(
        "501 body.browserSettings.os: mobile devices are not available",
      );
      await expect(sdk().agents.list()).rejects.toThrow("501 This service runs no agents");
    });

    it("a socket of the service takes the key and the session in its address", async () => {
      const { id } = await sdk().sessions.create({ keepAlive: true });
      const address = `${test.service.baseUrl.replace(/^http/, "ws")}?apiKey=${test.service.apiKey}`;
      const { close, page } = await open(`${address}&sessionId=${id}`);
      await page.goto(site.url);
      expect((await sdk().sessions.debug(id)).pages[0]?.title).toBe("shop");
      await close();
      await sdk().sessions.update(id, { status: "REQUEST_RELEASE" });
      await expect(chromium.connectOverCDP(`${address}&sessionId=${id}`)).rejects.toThrow("404");
    });
  },
);
