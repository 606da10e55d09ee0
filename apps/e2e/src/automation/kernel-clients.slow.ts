import KernelFirst from "onkernel-sdk-0.23";
import KernelOlder from "onkernel-sdk-0.49";
import Kernel from "@onkernel/sdk";
import { eventually } from "@shoal/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { AgentBrowser, agentBrowserTests } from "../testing/agent-browser.ts";
import { missingFor } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const form = `<!doctype html><title>form</title>
<label>Name <input id="name"></label> <button onclick="document.title = 'hello ' + document.querySelector('#name').value">Greet</button>`;

let site: Site;
beforeAll(async () => {
  site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(form));
});
afterAll(() => site.close());

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `clients of the hosted service${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "browserless"],
    ]);

    it.each([
      ["0.23.0", () => new KernelFirst({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl })],
      ["0.49.0", () => new KernelOlder({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl })],
      ["0.84.0", () => new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl })],
    ])("@onkernel/sdk %s creates, lists, uses and deletes a browser", async (_version, connect) => {
      const client = connect() as KernelFirst;
      const profile = await client.profiles.create({ name: `ann-${_version}` });
      const session = await client.browsers.create({
        headless: true,
        timeout_seconds: 120,
        viewport: { width: 1000, height: 700 },
        profile: { id: profile.id, save_changes: true },
      });
      const listed: string[] = [];
      for await (const { session_id } of client.browsers.list()) listed.push(session_id);
      expect(listed).toContain(session.session_id);
      const browser = await chromium.connectOverCDP(session.cdp_ws_url);
      const page = await firstPageOf(browser);
      await page.goto(site.url);
      await page.fill("#name", "Ann");
      await page.click("button");
      expect(await page.title()).toBe("hello Ann");
      expect(await page.evaluate(() => innerWidth)).toBe(1000);
      await client.browsers.fs.writeFile(session.session_id, new Blob(["hello"]), { path: "/home/shoal/note.txt" });
      const read = await client.browsers.fs.readFile(session.session_id, { path: "/home/shoal/note.txt" });
      expect(await read.text()).toBe("hello");
      const ran = await client.browsers.process.exec(session.session_id, {
        command: "cat",
        args: ["/home/shoal/note.txt"],
      });
      expect(Buffer.from(ran.stdout_b64 ?? "", "base64").toString()).toBe("hello");
      await browser.close();
      await client.browsers.deleteByID(session.session_id);
      await expect(client.browsers.retrieve(session.session_id)).rejects.toMatchObject({ status: 404 });
      await client.profiles.delete(profile.id);
    });

    it.skipIf(agentBrowserTests.skip).each([
      ["with the provider kernel", "kernel"],
      ["with the provider browserless", "browserless"],
      ["over the session's CDP address", undefined],
    ])(`agent-browser fills a form %s${agentBrowserTests.reason}`, async (_title, provider) => {
      const home = await mkdtemp(join(tmpdir(), "ab-"));
      onTestFinished(() => rm(home, { recursive: true, force: true }));
      const own = provider === undefined ? await test.shoal.browsers.create() : undefined;
      const options = own === undefined ? ["-p", provider ?? ""] : ["--cdp", own.cdp_ws_url];
      await using agent = await AgentBrowser.start(home, {
        KERNEL_ENDPOINT: test.service.baseUrl,
        KERNEL_API_KEY: test.service.apiKey,
        BROWSERLESS_API_URL: `${test.service.baseUrl}/browserless`,
        BROWSERLESS_API_KEY: test.service.apiKey,
      });
      expect(await agent.run(...options, "open", site.url)).toContain("form");
      const snapshot = await agent.run(...options, "snapshot", "-i");
      const [name, button] = [/textbox "Name".*?ref=(\w+)/, /button "Greet".*?ref=(\w+)/].map(
        (element) => element.exec(snapshot)?.[1],
      );
      await agent.run(...options, "fill", `@${String(name)}`, "Ann");
      await agent.run(...options, "click", `@${String(button)}`);
      expect(await agent.run(...options, "get", "title")).toContain("hello Ann");
      const sessions = await test.shoal.browsers.list();
      expect(sessions.items.map(({ session_id }) => session_id)).toHaveLength(1);
      if (own !== undefined) await test.shoal.browsers.delete(own.session_id);
      else if (provider === "browserless") {
        await agent.run("close");
        await eventually("the session is stopped", async () => (await test.shoal.browsers.list()).items.length === 0);
      }
    });
  },
);
