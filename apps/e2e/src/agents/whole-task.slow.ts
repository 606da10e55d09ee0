import { text } from "node:stream/consumers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { McpConnection } from "../mcp/mcp-clients.ts";
import { guidePrograms, useGuidePrograms } from "../testing/guide-runs.ts";
import { launchPerson } from "../testing/person.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const password = "paper-boat";
const signIn = `<!doctype html><title>Sign in</title><form method="post" action="/check"><label>Name <input id="name" name="name"></label>
<label>Password <input id="password" type="password" name="password"></label><button>Sign in</button></form>`;
/** Only a person in the live view clicks here. */
const check = `<!doctype html><title>Check</title><button style="position:fixed;inset:0;width:100%;height:100%"
onclick="if (event.isTrusted) location = '/orders'">I am a person</button>`;
const orders = `<!doctype html><title>Orders</title><h1>Your orders</h1><a id="report" href="/report.txt">Report</a>`;
const report = "3 orders";

let site: Site;
let orderPages = 0;
let person: Browser;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    void text(request).then((form) => {
      const isSignedIn = form.includes("name=Ada") && form.includes(`password=${password}`);
      if (request.url === "/orders") orderPages++;
      if (request.url === "/report.txt")
        response.setHeader("content-disposition", 'attachment; filename="report.txt"').end(report);
      else
        response
          .setHeader("content-type", "text/html")
          .end(request.url === "/orders" ? orders : isSignedIn ? check : signIn);
    });
  });
  person = await launchPerson();
});
afterAll(async () => {
  await person.close();
  await site.close();
});
const test = useService(() => ["--allow-private-hosts", site.host]);
const guide = useGuidePrograms();

/** The person takes control with an own browser, clicks the button of the shop, and returns control. */
async function help(link: string): Promise<void> {
  const viewer = await person.newPage({ viewport: { width: 1200, height: 900 } });
  await viewer.goto(link);
  await viewer.click("#handoff-take");
  await viewer.waitForSelector("body.showing:not(.read-only)");
  const before = orderPages;
  await viewer.locator("#screen").click();
  // The click has reached the shop.
  await expect.poll(() => orderPages).toBeGreaterThan(before);
  await viewer.click("#handoff-done");
  await viewer.getByText("Control was returned", { exact: true }).waitFor();
  await viewer.close();
}

function linkIn(output: string): string | undefined {
  return /https?:\/\/\S+\/browser\/live\/[^\s"]+(?=["\s])/.exec(output)?.[0];
}

it.each(["ts", "sh"])("signs in, asks a person, and gets a file, as in the guide (%s)", async (language) => {
  const program = guidePrograms.find((each) => each.trial === "person" && each.language === language);
  if (program === undefined) expect.fail("The guide has no program for it.");
  let helped: Promise<void> | undefined;
  const env = { SHOP_URL: site.url, SHOP_PASSWORD: password };
  const output = await guide.run(program, test.service, env, (sofar) => {
    const link = linkIn(sofar);
    if (link !== undefined) helped ??= help(link);
  });
  await helped;
  expect(helped).toBeDefined();
  expect(output.trimEnd().split("\n")).toContain(report);
  expect(output).not.toContain(password);
  expect((await test.shoal.browsers.list()).items).toEqual([]);
});

it("signs in, asks a person, and gets a file, with the tools of MCP alone", async () => {
  await using mcp = await McpConnection.overStdio(test, ["--tools", "all"]);
  const call = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const answer = await mcp.call(name, input);
    expect(answer, answer.text).toMatchObject({ isError: false });
    return answer.text;
  };
  const ref = (outline: string, element: RegExp) =>
    /\[(e\d+)\]/.exec(outline.split("\n").find((line) => element.test(line)) ?? "")?.[1] ?? expect.fail(outline);

  await call("navigate", { url: site.url });
  const form = await call("snapshot", {});
  await call("fill", { ref: ref(form, /textbox "Name"/), text: "Ada" });
  await call("fill", { ref: ref(form, /textbox "Password"/), text: password, submit: true });
  const link =
    linkIn(await call("hand_over", { message: "Please confirm." })) ?? expect.fail("The answer has no link.");
  const helped = help(link);
  // A call waits for a limited time.
  await expect.poll(() => call("hand_over", {})).toContain("The user returned control.");
  await helped;
  await call("wait_for", { text: "Your orders" });
  const clicked = await call("click", { ref: ref(await call("snapshot", {}), /link "Report"/) });
  expect(clicked).toContain("report.txt");
  await expect
    .poll(() => mcp.call("read_file", { path: "/home/shoal/Downloads/report.txt" }))
    .toMatchObject({ text: report });
});
