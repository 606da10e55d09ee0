import Cloudflare from "cloudflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const html = `<!doctype html><title>shop</title><h1 class="title">Fish</h1><a href="/cod">Cod</a>
<script>document.body.insertAdjacentHTML("beforeend", "<p>by script</p>")</script>`;

let site: Site;
beforeAll(async () => {
  site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(html));
});
afterAll(() => site.close());

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `the SDK of Cloudflare${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "cloudflare"],
    ]);
    const sdk = (apiToken = test.service.apiKey) =>
      new Cloudflare({ apiToken, baseURL: `${test.service.baseUrl}/cloudflare`, maxRetries: 0 }).browserRendering;
    const page = () => ({ account_id: "f00d", url: site.url });

    it("gets HTML, Markdown, links and elements", async () => {
      expect(await sdk().content.create(page())).toContain("<p>by script</p>");
      expect(await sdk().markdown.create({ ...page(), cacheTTL: 0 })).toContain("# Fish");
      expect(await sdk().links.create(page())).toEqual([`${new URL(site.url).origin}/cod`]);
      const [scraped] = await sdk().scrape.create({ ...page(), elements: [{ selector: "h1" }] });
      expect(scraped).toMatchObject({ selector: "h1", results: [{ text: "Fish", html: "Fish" }] });
    });

    it("gets pictures, documents and snapshots", async () => {
      const picture = await sdk()
        .screenshot.create({ ...page(), screenshotOptions: { type: "webp" } })
        .asResponse();
      expect(picture.headers.get("content-type")).toBe("image/webp");
      const pdf = await sdk().pdf.create({ ...page(), pdfOptions: { format: "a4" } });
      expect(
        Buffer.from(await pdf.arrayBuffer())
          .subarray(0, 5)
          .toString(),
      ).toBe("%PDF-");
      const snapshot = await sdk().snapshot.create(page());
      expect(snapshot.content).toContain("<p>by script</p>");
      expect(
        Buffer.from(snapshot.screenshot ?? "", "base64")
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
    });

    it("gets errors as its own", async () => {
      await expect(sdk("wrong").content.create(page())).rejects.toThrow(Cloudflare.AuthenticationError);
      const json = sdk().json.create({ ...page(), prompt: "the price" });
      await expect(json).rejects.toMatchObject({ status: 501, errors: [{ code: 501 }] });
    });
  },
);
