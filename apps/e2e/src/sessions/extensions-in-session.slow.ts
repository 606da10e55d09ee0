import Kernel, { toFile } from "@onkernel/sdk";
import { waitLimitMs } from "@shoal/testkit";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fullChromiumPlacements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { zipOf } from "../testing/zip.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite();
});
afterAll(() => site.close());

/** An extension that marks every page. */
const marking = (mark: string) =>
  zipOf([
    {
      name: "manifest.json",
      content: JSON.stringify({
        manifest_version: 3,
        name: mark,
        version: "1.0",
        content_scripts: [{ matches: ["<all_urls>"], js: ["mark.js"], run_at: "document_start" }],
      }),
    },
    { name: "mark.js", content: `document.documentElement.dataset.${mark} = "yes";` },
  ]);
const blobOf = async (mark: string) => new Blob([await marking(mark)], { type: "application/zip" });

const marks = "Object.keys(document.documentElement.dataset).sort().join()";

async function marksOfNewPage(client: Browser): Promise<unknown> {
  const page = await client.contexts()[0]?.newPage();
  await page?.goto(`${site.url}new`);
  const found = await page?.evaluate(marks);
  await page?.close();
  return found;
}

describe.each(fullChromiumPlacements)("extensions in a session, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with stored ones and new ones", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", site.host]);
    let stored: string;
    beforeAll(async () => {
      stored = (await test.shoal.extensions.upload({ file: await blobOf("one") })).id;
      await test.shoal.extensions.upload({ file: await blobOf("two"), name: "second" });
    });

    it("are loaded before the first page, and more can be added while it runs", async () => {
      const { browsers, extensions } = test.shoal;
      const session = await browsers.create({
        extensions: [{ id: stored }, { name: "second" }, { id: stored }],
        start_url: `${site.url}first`,
        timeout_seconds: 600,
      });
      expect((await extensions.get("second")).last_used_at).toEqual(expect.any(String));
      const client = await chromium.connectOverCDP(session.cdp_ws_url, { timeout: waitLimitMs });
      const first = await firstPageOf(client);
      await first.waitForURL(`${site.url}first`);
      expect(await first.evaluate(marks)).toBe("one,two");

      await browsers.loadExtensions(session.session_id, {
        extensions: [{ name: "third", zip_file: await blobOf("three") }],
      });
      // Over the same connection; the open page does not reload.
      expect(await marksOfNewPage(client)).toBe("one,three,two");
      expect(await first.evaluate(marks)).toBe("one,two");
      await client.close();
      await browsers.delete(session.session_id);
    });

    it("are loaded by the browsers of a pool", async () => {
      const { browserPools } = test.shoal;
      const pool = await browserPools.create({
        size: 1,
        extensions: [{ name: "second" }],
        headless: true,
        stealth: true,
      });
      expect(pool).toMatchObject({
        extension_ids: [expect.any(String)],
        browser_pool_config: { extensions: [{ name: "second" }], stealth: true },
      });
      const lease = await browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      if (lease === undefined) throw new Error("The pool has no browser.");
      const client = await chromium.connectOverCDP(lease.cdp_ws_url, { timeout: waitLimitMs });
      expect(await marksOfNewPage(client)).toBe("two");
      await client.close();
      await browserPools.release(pool.id, { session_id: lease.session_id, reuse: false });
      await browserPools.delete(pool.id, { force: true });
    });

    it("are accepted from the hosted service's SDK, which receives errors for invalid ones", async () => {
      const kernel = new Kernel({ baseURL: test.service.baseUrl, apiKey: test.service.apiKey });
      const session = await kernel.browsers.create({ headless: true });
      await kernel.browsers.loadExtensions(session.session_id, {
        extensions: [
          { name: "mine", zip_file: await toFile(await marking("four"), "mine.zip", { type: "application/zip" }) },
        ],
      });
      const client = await chromium.connectOverCDP((await kernel.browsers.retrieve(session.session_id)).cdp_ws_url, {
        timeout: waitLimitMs,
      });
      expect(await marksOfNewPage(client)).toBe("four");
      await client.close();
      const { browsers } = test.shoal;
      expect(
        await refusalOf(
          browsers.loadExtensions(session.session_id, {
            extensions: [{ name: "bad", zip_file: new Blob(["no archive"]) }],
          }),
        ),
      ).toMatchObject({
        status: 400,
        message: expect.stringContaining("body.extensions[0][zip_file]: not a ZIP archive") as unknown,
      });
      expect(await refusalOf(browsers.create({ extensions: [{ name: "nowhere" }] }))).toMatchObject({
        status: 404,
        message: expect.stringContaining("Extension nowhere was not found") as unknown,
      });
      await browsers.delete(session.session_id);
    });
  });
});
