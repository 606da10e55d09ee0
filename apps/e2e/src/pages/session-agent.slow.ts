import type { BrowserSession } from "@shoal/client";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runService, type TestService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

let site: Site;
let test: TestService & { end(): Promise<void> };
let browser: BrowserSession;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    void text(request).then((form) => {
      if (request.url?.startsWith("/report") === true)
        response.setHeader("content-disposition", 'attachment; filename="report.txt"').end("3 orders");
      else
        response
          .setHeader("content-type", "text/html")
          .end(
            form.includes("password=paper-boat")
              ? `<title>Orders</title><a href="/report?1">Report</a>`
              : `<title>Sign in</title><form method="post"><label>Password <input type="password" name="password"></label><button>Sign in</button></form>`,
          );
    });
  });
  test = await runService(["--allow-private-hosts", site.host]);
  browser = await test.shoal.browsers.create();
});
afterAll(async () => {
  await test.end();
  await site.close();
});

/** The reference of the first line of an outline that matches. */
function find(outline: string, element: RegExp): string {
  const line = outline.split("\n").find((each) => element.test(each));
  return /\[(e\d+)\]/.exec(line ?? "")?.[1] ?? expect.fail(outline);
}

it("signs in, reads, and waits for each download, with methods that need no id", async () => {
  const { status } = await browser.goto(site.url);
  expect(status).toBe(200);
  const form = await browser.observe();
  await browser.fill(find(form.outline, /textbox "Password"/), "paper-boat");
  const signedIn = await browser.click(find(form.outline, /button "Sign in"/), { observe: {} });
  expect(signedIn).toMatchObject({ navigated: true, title: "Orders" });
  const outline = signedIn.observation?.outline ?? "";
  const link = find(outline, /link "Report"/);

  await browser.click(link);
  const first = await browser.waitForDownload();
  expect(first).toMatchObject({ name: "report.txt", state: "completed", size_bytes: 8 });
  expect(await browser.files.readText(first.path ?? "")).toBe("3 orders");
  await browser.click(link);
  const second = await browser.waitForDownload();
  expect(second.path).toBe("/home/shoal/Downloads/report (1).txt");

  expect((await browser.read()).markdown).toContain("Report");
  expect((await browser.screenshot()).subarray(1, 4)).toEqual(new TextEncoder().encode("PNG"));
  expect(new TextDecoder().decode((await browser.pdf()).subarray(0, 5))).toBe("%PDF-");
  await expect(browser.click("e999")).rejects.toMatchObject({ code: "stale_reference" });
});
