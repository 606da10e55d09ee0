import { ApiError } from "@shoal/client";
import { findChromium } from "@shoal/placement";
import { eventuallyPasses } from "@shoal/testkit";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedPort } from "../testing/closed-port.ts";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

/**
 * What a program observes for an unreachable address. Error names, which differ behind a proxy, become a placeholder.
 */
async function observe(context: BrowserContext, origin: string, address: string): Promise<Record<string, unknown>> {
  // Two pages: Playwright reports the first one's error page as an interruption of the next navigation.
  const [visited, page] = [await context.newPage(), await context.newPage()];
  const failed: string[] = [];
  let running = 0;
  context.on("request", (request) => (running += Number(request.url().startsWith(address))));
  context.on("requestfinished", (request) => (running -= Number(request.url().startsWith(address))));
  context.on("requestfailed", (request) => {
    if (!request.url().startsWith(address)) return;
    running -= 1;
    failed.push(
      `${new URL(request.url()).pathname} ${request.failure()?.errorText.replace(/net::ERR_\w+/, "net error") ?? ""}`,
    );
  });
  const goto = await visited.goto(`${address}/page`).then(
    () => "loaded",
    (error: unknown) => /net::ERR_\w+/.test(String(error)),
  );
  await page.goto(origin);
  const inPage = await page.evaluate(async (base) => {
    const outcome = (request: Promise<Response>): Promise<string> =>
      request.then(
        ({ status }) => `answered ${String(status)}`,
        (error: unknown) => String(error),
      );
    const inWorker = (): Promise<string> =>
      new Promise((resolve) => {
        const source = `fetch(${JSON.stringify(`${base}/worker`)}, { mode: "no-cors" }).then(() => postMessage("answered"), (error) => postMessage(String(error)))`;
        new Worker(URL.createObjectURL(new Blob([source]))).onmessage = ({ data }) => {
          resolve(String(data));
        };
      });
    const image = (): Promise<string> =>
      new Promise((resolve) => {
        const made = document.createElement("img");
        made.onload = () => {
          resolve("loaded");
        };
        made.onerror = () => {
          resolve("error");
        };
        made.src = `${base}/image`;
      });
    const frame = (): Promise<string> =>
      new Promise((resolve) => {
        const made = document.createElement("iframe");
        made.onload = () => {
          resolve("load event");
        };
        made.src = `${base}/frame`;
        document.body.append(made);
      });
    const xhr = (): Promise<string> =>
      new Promise((resolve) => {
        const made = new XMLHttpRequest();
        made.onloadend = () => {
          resolve(`status ${String(made.status)}`);
        };
        made.open("GET", `${base}/xhr`);
        made.send();
      });
    return {
      fetch: await outcome(fetch(`${base}/fetch`)),
      noCors: await outcome(fetch(`${base}/no-cors`, { mode: "no-cors" })),
      post: await outcome(fetch(`${base}/post`, { method: "POST", body: "x".repeat(100_000), mode: "no-cors" })),
      worker: await inWorker(),
      image: await image(),
      frame: await frame(),
      xhr: await xhr(),
    };
  }, address);
  const frames = page.frames().map((frame) => frame.url().replace(/^chrome-error:.*/, "error page"));
  // The event of a request's end may come later than the page's own result.
  await eventuallyPasses(() => {
    expect(failed.map((told) => told.split(" ")[0])).toEqual(
      expect.arrayContaining(["/page", "/fetch", "/no-cors", "/post", "/image", "/frame", "/xhr"]),
    );
    expect(running).toBe(0);
  });
  await Promise.all([visited.close(), page.close()]);
  for (const name of ["request", "requestfinished", "requestfailed"]) context.removeAllListeners(name);
  return { goto, ...inPage, frames: frames.slice(1), failed: failed.toSorted() };
}

describe.each(placements)("addresses that cannot be reached, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    let site: Site;
    let local: Browser;
    let port: Awaited<ReturnType<typeof closedPort>>;
    let closed: string;
    beforeAll(async () => {
      site = await serveSite((_request, response) =>
        response.setHeader("content-type", "text/html").end("<title>start</title>"),
      );
      port = await closedPort();
      closed = port.host;
      const installed = await findChromium();
      local = await chromium.launch({
        executablePath: installed?.executable ?? "",
        chromiumSandbox: process.getuid?.() !== 0,
      });
    });
    afterAll(async () => {
      port.close();
      await local.close();
      await site.close();
    });
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    const session = useSession(test);

    it("are network errors for pages, frames, fetches, images and workers, as in a local Chromium, over http and https", async () => {
      const { cdp_ws_url: address } = await test.shoal.browsers.get(session.id);
      const browser = await chromium.connectOverCDP(address);
      const [here, there] = [await local.newContext(), await browser.newContext()];
      for (const protocol of ["http", "https"]) {
        const expected = await observe(here, site.url, `${protocol}://${closed}`);
        expect(expected).toMatchObject({
          goto: true,
          noCors: "TypeError: Failed to fetch",
          worker: "TypeError: Failed to fetch",
          image: "error",
          xhr: "status 0",
        });
        for (const host of [closed, "nothing.invalid", "10.1.2.3"])
          expect(await observe(there, site.url, `${protocol}://${host}`), `${protocol}://${host}`).toEqual({
            ...expected,
            frames: (expected.frames as string[]).map((url) => url.replace(closed, host)),
          });
      }
      await browser.close();
    });

    it("are explained with the name of the setting, in Playwright code, curl and programs", async () => {
      const setting = "--allow-private-hosts 10.1.2.3:80";
      for (const url of ["http://10.1.2.3/", "https://10.1.2.3:80/"]) {
        const executed = await test.shoal.browsers.playwright.execute(session.id, {
          code: `await page.goto(${JSON.stringify(url)})`,
        });
        expect(executed).toMatchObject({ success: false, error: expect.stringMatching(/net::ERR_/) as string });
        expect(executed.error).toContain(setting);
        const curl: unknown = await test.shoal.browsers
          .curl(session.id, { url }, { maxRetries: 0 })
          .catch((error: unknown) => error);
        expect(ApiError.isInstance(curl) && curl.message).toContain(setting);
      }
      const program = await test.shoal.browsers.process.run(session.id, {
        command: "node",
        args: [
          "-e",
          'require("http").get({ host: "127.0.0.1", port: new URL(process.env.http_proxy).port, path: "http://10.1.2.3/" }, (answer) => { console.log(answer.statusCode); answer.pipe(process.stdout); })',
        ],
      });
      expect(program.stdout).toMatch(new RegExp(`^403\n.*${setting}`));
    });
  });
});
