import { chromium } from "playwright-core";
import Steel from "steel-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite((_request, response) =>
    response.setHeader("content-type", "text/html").end(`<title>shop</title><h1>Fish</h1><input type="file">`),
  );
});
afterAll(() => site.close());

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `the SDK of Steel${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "steel"],
    ]);
    const sdk = (steelAPIKey = test.service.apiKey) =>
      new Steel({ steelAPIKey, baseURL: `${test.service.baseUrl}/steel`, maxRetries: 0 });

    it("creates a session, connects with a key appended, and releases it", async () => {
      const session = await sdk().sessions.create({ timeout: 600_000, dimensions: { width: 900, height: 700 } });
      const browser = await chromium.connectOverCDP(`${session.websocketUrl}?apiKey=${test.service.apiKey}`);
      const [context] = browser.contexts();
      const page = await firstPageOf(browser);
      await page.goto(site.url);
      expect(await page.title()).toBe("shop");
      await expect
        .poll(async () => (await sdk().sessions.liveDetails(session.id)).pages.map(({ title }) => title))
        .toEqual(["shop"]);
      await context?.addCookies([{ name: "user", value: "ann", url: site.url }]);
      const { cookies = [] } = await sdk().sessions.context(session.id);
      expect(cookies.map(({ name, value }) => [name, value])).toEqual([["user", "ann"]]);
      expect((await sdk().sessions.computer(session.id, { action: "take_screenshot" })).base64_image).toMatch(/^iVBOR/);
      await browser.close();
      expect((await sdk().sessions.retrieve(session.id)).status).toBe("live");
      expect(await sdk().sessions.release(session.id)).toMatchObject({ success: true });
      expect((await sdk().sessions.retrieve(session.id)).status).toBe("released");
    });

    it("uploads files with slashes in their paths", async () => {
      const { id } = await sdk().sessions.create();
      const uploaded = await sdk().sessions.files.upload(id, { file: new File(["one"], "a.txt"), path: "in/a b.txt" });
      const files = (await sdk().sessions.files.list(id)) as unknown as { data: { path: string }[] };
      expect(files.data.map(({ path }) => path)).toEqual([(uploaded as unknown as { path: string }).path]);
      expect(await (await sdk().sessions.files.download(id, "in/a b.txt")).text()).toBe("one");
      await sdk().sessions.files.deleteAll(id);
      expect(await sdk().sessions.files.list(id)).toEqual({ data: [] });
    });

    it("pages through sessions, and releases all", async () => {
      for (let count = 0; count < 2; count += 1) await sdk().sessions.create();
      const found = new Set<string>();
      for await (const { id } of sdk().sessions.list({ limit: 1 })) found.add(id);
      expect(found.size).toBe(4);
      await sdk().sessions.releaseAll();
      expect((await sdk().sessions.list({ status: "live" })).sessions).toEqual([]);
    });

    it("scrapes pages, and gets errors as its own", async () => {
      const page = await sdk().scrape({ url: site.url, format: ["markdown"] });
      expect([page.content.markdown?.trim(), page.metadata.title]).toEqual(["# Fish", "shop"]);
      expect((await sdk().pdf({ url: site.url })).url).toMatch(/^data:application\/pdf;base64,/);
      await expect(sdk("wrong").sessions.create()).rejects.toThrow(Steel.AuthenticationError);
    });
  },
);
