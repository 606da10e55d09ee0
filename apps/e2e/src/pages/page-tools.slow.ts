import { ApiError, type BrowserSession } from "@shoal/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runService, type TestService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const shop = `<title>Shop</title><script>
  document.modelContext.registerTool({
    name: "search", description: "Search the shop", annotations: { readOnlyHint: true },
    inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    execute: ({ query }) => ({ content: [{ type: "text", text: "2 tins of " + query }] }),
  });
  document.modelContext.registerTool({ name: "boom", description: "Fails", execute() { throw new Error("sold out") } });
</script><form toolname="order" tooldescription="Order tins" toolautosubmit><input name="tins" type="number"></form>`;

let site: Site;
let test: TestService & { end(): Promise<void> };
let browser: BrowserSession;
beforeAll(async () => {
  site = await serveSite((_request, response) => {
    response.setHeader("content-type", "text/html").end(shop);
  });
  test = await runService(["--allow-private-hosts", site.host]);
  browser = await test.shoal.browsers.create();
  await browser.goto(site.url);
});
afterAll(async () => {
  await test.end();
  await site.close();
});

it("lists and calls the tools of a page", async () => {
  const { tools } = await browser.tools.list();
  expect(tools.map(({ name, read_only }) => [name, read_only]).sort()).toEqual([
    ["boom", false],
    ["order", false],
    ["search", true],
  ]);
  const { result } = await browser.tools.call("search", { query: "herring" });
  expect(result).toEqual({ content: [{ type: "text", text: "2 tins of herring" }] });
  await expect(browser.tools.call("boom")).rejects.toSatisfy(
    (error) => ApiError.isInstance(error) && error.code === "tool_failed" && error.message.includes("sold out"),
  );
});

it("offers the same tools to Playwright over CDP", async () => {
  const tins = await browser.withPage(async (page): Promise<unknown> => {
    const found = await page.webmcp.tools();
    expect(found.find(({ name }) => name === "search")).toMatchObject({ description: "Search the shop" });
    return page.webmcp.callTool("search", { query: "cod" }) as Promise<unknown>;
  });
  expect(tins).toEqual({ content: [{ type: "text", text: "2 tins of cod" }] });
});
