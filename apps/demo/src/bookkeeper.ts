import { Shoal } from "@shoal/client";
import { app } from "@shoal/client/app";

const shoal = new Shoal();

/** The app that the demo deploys. */
app("bookkeeper").action("latest-invoice", async ({ invocation_id }, payload) => {
  const { url } = payload as { url: string };
  await using browser = await shoal.browsers.create({ invocation_id });
  console.log(`opened browser ${browser.session_id}`);
  const { result } = await shoal.browsers.playwright.execute(browser.session_id, {
    code: `await page.goto(${JSON.stringify(url)}); return page.locator("tr").last().locator("td").allTextContents();`,
  });
  return result;
});
