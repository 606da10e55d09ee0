import { eventually } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

/** Its heading comes from a script. With less text, crawl4ai takes a page for one of a bot check. */
const page = `<!doctype html><title>shop</title><main>Everything for a quiet afternoon: leaves from four gardens, and what boils the water.</main>
<button>Buy</button><a href="/?page=cart">cart</a><script>
const heading = document.createElement("h1");
heading.textContent = new URLSearchParams(location.search).get("page");
document.body.prepend(heading);
document.querySelector("button").onclick = () =>
  document.body.append(Object.assign(document.createElement("p"), { id: "cart", textContent: "1 in the cart" }));
</script>`;
const missing = missingFor("sandbox") ?? missingInPython("crawl4ai");

describe.skipIf(missing !== undefined)(`crawl4ai${missing === undefined ? "" : ` (skipped, ${missing})`}`, () => {
  const test = useService(() => ["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1"]);
  let site: Site;
  beforeAll(async () => {
    site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(page));
  });
  afterAll(() => site.close());

  it.each([
    ["the socket", "ws"],
    ["http", "http"],
  ])("crawls pages of a site in a separate session, by %s", async (_what, scheme) => {
    const address = `${test.service.baseUrl.replace(/^http/, scheme)}/?token=${test.service.apiKey}&name=${scheme}`;
    const program = join(import.meta.dirname, "crawl4ai_client.py");
    // It writes to its home, where it needs no browser.
    const env = {
      ...process.env,
      HOME: test.folder,
      CRAWL4_AI_BASE_DIRECTORY: test.folder,
      CRAWL4AI_NO_CLOUD_NOTICE: "1",
    };
    const { stdout } = await promisify(execFile)(python, [program, address, site.url], { env });
    expect(stdout).toBe("# tea ['cart']\n# kettles ['cart']\nTrue\n");
    const [session] = (await test.shoal.browsers.list({ status: "all" })).items.filter(({ name }) => name === scheme);
    const reason = async () =>
      (await test.shoal.browsers.get(session?.session_id ?? "", { include_deleted: true })).ended_reason;
    expect(await eventually("the session has ended", reason)).toBe("disconnected");
  });
});
