import Kernel from "@onkernel/sdk";
import type { Browser as Session } from "@shoal/client";
import { waitLimitMs } from "@shoal/testkit";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fullChromiumPlacements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

let site: Site;
const seen: { readonly url: string; readonly agent: string }[] = [];
beforeAll(async () => {
  site = await serveSite((request, response) => {
    seen.push({ url: request.url ?? "", agent: request.headers["user-agent"] ?? "" });
    response
      .writeHead(200, { "content-type": "text/html; charset=utf-8" })
      .end(`<!doctype html><title>${(request.url ?? "").replace(/\W/g, "")}</title>`);
  });
});
afterAll(() => site.close());

async function connectTo(session: Session): Promise<{ client: Browser; page: Page }> {
  const client = await chromium.connectOverCDP(session.cdp_ws_url, { timeout: waitLimitMs });
  return { client, page: await firstPageOf(client) };
}

async function visit(client: Browser, path: string): Promise<string> {
  const page = await client.contexts()[0]?.newPage();
  try {
    await page?.goto(site.url + path, { timeout: waitLimitMs });
    return (await page?.title()) ?? "";
  } catch (error) {
    return /net::\w+/.exec(String(error))?.[0] ?? String(error);
  } finally {
    await page?.close();
  }
}

describe.each(fullChromiumPlacements)(
  "what a browser is started with, in the placement $title",
  ({ placement, skip }) => {
    describe.skipIf(skip)("by its options", () => {
      const test = useService(() => ["--placement", placement, "--allow-private-hosts", site.host]);

      it("hides the signs of automation from a page", async () => {
        seen.splice(0);
        const session = await test.shoal.browsers.create({
          stealth: true,
          timeout_seconds: 600,
          start_url: `${site.url}stealthy`,
          viewport: { width: 1000, height: 700 },
        });
        expect(session).toMatchObject({ stealth: true, headless: true });
        const { client, page } = await connectTo(session);
        await page.waitForURL(`${site.url}stealthy`);
        await page.waitForFunction("innerWidth === 1000 && innerHeight === 700");
        expect(
          await page.evaluate(
            "[navigator.webdriver, navigator.plugins.length, typeof chrome, navigator.userAgentData.brands.some(({ brand }) => /headless/i.test(brand))]",
          ),
        ).toEqual([false, 5, "object", false]);
        expect(seen.filter(({ url }) => url === "/stealthy").map(({ agent }) => agent)).toEqual([
          expect.stringMatching(/ Chrome\/\d+\.0\.0\.0 Safari\/537\.36$/),
        ]);
        const opening = page.waitForEvent("popup");
        await page.evaluate("void open('/popup')");
        const popup = await opening;
        await popup.waitForURL("**/popup");
        expect(await popup.evaluate("navigator.webdriver + navigator.userAgent")).not.toMatch(/true|Headless/);
        await client.close();
        await test.shoal.browsers.delete(session.session_id);
      });

      it("reaches only the allowed private hosts that its options name", async () => {
        const { browsers } = test.shoal;
        const outcomes: unknown[] = [];
        for (const private_hosts of [[], ["10.0.0.0/8", "intranet.example"], [site.host], ["127.0.0.0/8"]]) {
          const session = await browsers.create({ network: { private_hosts }, timeout_seconds: 600 });
          expect(session.network).toEqual({ private_hosts });
          const { success } = await browsers.playwright.execute(session.session_id, {
            code: `const answer = await page.goto(${JSON.stringify(`${site.url}near`)}); if (answer.status() !== 200) throw new Error(await answer.text());`,
          });
          outcomes.push(success);
          await browsers.delete(session.session_id);
        }
        expect(outcomes).toEqual([false, false, true, true]);
        expect(await refusalOf(browsers.create({ network: { private_hosts: ["a b"] } }))).toMatchObject({
          status: 400,
          message: expect.stringContaining('body.network.private_hosts: "a b" is not a host') as unknown,
        });
      });

      it("refuses a GPU", async () => {
        expect(await refusalOf(test.shoal.browsers.create({ gpu: true }))).toMatchObject({
          status: 400,
          message: expect.stringContaining("body.gpu: sessions of this service have no GPU") as unknown,
        });
      });

      if (placement === "process") {
        it("refuses policies, since Chromium reads them from one place for the whole system", async () => {
          expect(await refusalOf(test.shoal.browsers.create({ chrome_policy: { URLBlocklist: ["*"] } }))).toMatchObject(
            {
              status: 400,
              message: expect.stringContaining("body.chrome_policy: needs sessions that run in a sandbox") as unknown,
            },
          );
          const session = await test.shoal.browsers.create({ chrome_policy: {} });
          expect(
            await refusalOf(test.shoal.browsers.update(session.session_id, { chrome_policy: { URLBlocklist: ["*"] } })),
          ).toMatchObject({
            status: 400,
          });
          await test.shoal.browsers.delete(session.session_id);
        });
        return;
      }

      it("applies policies, and changed ones while pages stay open", async () => {
        const { browsers } = test.shoal;
        const address = new URL(site.url).host;
        const session = await browsers.create({
          chrome_policy: { URLBlocklist: [`${address}/first`] },
          timeout_seconds: 600,
        });
        expect(session.chrome_policy).toEqual({ URLBlocklist: [`${address}/first`] });
        const { client, page } = await connectTo(session);
        expect([await visit(client, "first"), await visit(client, "second")]).toEqual([
          "net::ERR_BLOCKED_BY_ADMINISTRATOR",
          "second",
        ]);

        // Programs in the box cannot remove them.
        const { stdout } = await browsers.process.run(session.session_id, {
          command: "sh",
          args: [
            "-c",
            "rm -f /etc/chromium/policies/managed/* /opt/shoal/policies/*; (echo x > /etc/chromium/policies/managed/other.json); ls /etc/chromium/policies/managed",
          ],
        });
        expect(stdout).toBe("shoal.json\n");

        await page.evaluate("globalThis.kept = 'yes'");
        const changed = await browsers.update(session.session_id, {
          chrome_policy: { URLBlocklist: [`${address}/second`] },
        });
        expect(changed.chrome_policy).toEqual({ URLBlocklist: [`${address}/second`] });
        expect(await page.evaluate("globalThis.kept")).toBe("yes");
        expect([await visit(client, "first"), await visit(client, "second")]).toEqual([
          "first",
          "net::ERR_BLOCKED_BY_ADMINISTRATOR",
        ]);

        const none = await browsers.update(session.session_id, { chrome_policy: {} });
        expect(none.chrome_policy).toBeUndefined();
        expect([await visit(client, "first"), await visit(client, "second")]).toEqual(["first", "second"]);
        await client.close();
        await browsers.delete(session.session_id);
      });

      it("accepts policies of nearly 5 MiB, and refuses larger ones with the field's name", async () => {
        const { browsers } = test.shoal;
        const ofSize = (bytes: number) => ({
          URLBlocklist: [`${new URL(site.url).host}/first`],
          ManagedBookmarks: [{ toplevel_name: "x".repeat(bytes) }],
        });
        const chrome_policy = ofSize(4.9 * 2 ** 20);
        const session = await browsers.create({ chrome_policy, timeout_seconds: 600 });
        expect(JSON.stringify(session.chrome_policy)).toHaveLength(JSON.stringify(chrome_policy).length);
        const { client } = await connectTo(session);
        expect([await visit(client, "first"), await visit(client, "second")]).toEqual([
          "net::ERR_BLOCKED_BY_ADMINISTRATOR",
          "second",
        ]);
        // A list of a hundred sessions with policies would be half a gigabyte.
        const listed = (await browsers.list()).items.find(({ session_id }) => session_id === session.session_id);
        expect(listed).toMatchObject({ session_id: session.session_id, headless: true });
        expect(listed).not.toHaveProperty("chrome_policy");
        expect((await browsers.get(session.session_id)).chrome_policy).toEqual(session.chrome_policy);

        const tooMuch = {
          status: 400,
          message: expect.stringMatching(
            /^body\.chrome_policy: \d+ bytes as JSON; at most 5242880 are taken$/,
          ) as unknown,
        };
        expect(await refusalOf(browsers.create({ chrome_policy: ofSize(5.1 * 2 ** 20) }))).toMatchObject(tooMuch);
        expect(
          await refusalOf(browsers.update(session.session_id, { chrome_policy: ofSize(5.1 * 2 ** 20) })),
        ).toMatchObject(tooMuch);
        expect(await refusalOf(browsers.create({ chrome_policy: ofSize(6 * 2 ** 20) }))).toMatchObject({
          status: 413,
          code: "payload_too_large",
          message: expect.stringContaining("6291456 bytes") as unknown,
        });

        await browsers.update(session.session_id, {
          chrome_policy: { ...chrome_policy, URLBlocklist: [`${new URL(site.url).host}/second`] },
        });
        expect([await visit(client, "first"), await visit(client, "second")]).toEqual([
          "first",
          "net::ERR_BLOCKED_BY_ADMINISTRATOR",
        ]);
        await client.close();
        await browsers.delete(session.session_id);

        const pool = await test.shoal.browserPools.create({
          name: "policies",
          size: 1,
          fill_rate_per_minute: 0,
          chrome_policy,
        });
        expect(pool.browser_pool_config.chrome_policy).toEqual(chrome_policy);
        expect(
          (await test.shoal.browserPools.list()).items.map(
            ({ browser_pool_config }) => browser_pool_config.chrome_policy,
          ),
        ).toEqual([undefined]);
        expect(
          await refusalOf(test.shoal.browserPools.update("policies", { chrome_policy: ofSize(5.1 * 2 ** 20) })),
        ).toMatchObject(tooMuch);
        expect(
          await refusalOf(
            test.shoal.browserPools.create({ size: 1, fill_rate_per_minute: 0, chrome_policy: ofSize(5.1 * 2 ** 20) }),
          ),
        ).toMatchObject(tooMuch);
        await test.shoal.browserPools.delete("policies");
      });

      it("restarts a headless shell as a full Chromium for its first policies", async () => {
        const { browsers } = test.shoal;
        const session = await browsers.create({ timeout_seconds: 600 });
        const { client } = await connectTo(session);
        expect(await visit(client, "third")).toBe("third");
        const closed = new Promise((resolve) => client.once("disconnected", resolve));
        await browsers.update(session.session_id, {
          chrome_policy: { URLBlocklist: ["*"], URLAllowlist: [`${new URL(site.url).host}/fourth`] },
        });
        await closed;
        const again = await connectTo(session);
        expect([await visit(again.client, "third"), await visit(again.client, "fourth")]).toEqual([
          "net::ERR_BLOCKED_BY_ADMINISTRATOR",
          "fourth",
        ]);
        await again.client.close();
        expect((await browsers.get(session.session_id)).browser_restarts).toBe(0);
        await browsers.delete(session.session_id);
      });

      it("refuses policies that the service sets itself", async () => {
        const refused = await refusalOf(
          test.shoal.browsers.create({
            chrome_policy: {
              ProxyMode: "direct",
              ExtensionSettings: {},
              RemoteDebuggingAllowed: false,
              URLBlocklist: [],
            },
          }),
        );
        expect(refused).toMatchObject({
          status: 400,
          message: expect.stringContaining(
            "ProxyMode, ExtensionSettings, RemoteDebuggingAllowed are the service's own",
          ) as unknown,
        });
      });

      it("works with the hosted service's SDK", async () => {
        const kernel = new Kernel({ baseURL: test.service.baseUrl, apiKey: test.service.apiKey });
        const session = await kernel.browsers.create({
          headless: true,
          stealth: true,
          chrome_policy: { URLBlocklist: ["other.invalid"] },
        });
        expect(session).toMatchObject({ stealth: true, chrome_policy: { URLBlocklist: ["other.invalid"] } });
        await kernel.browsers.deleteByID(session.session_id);
      });
    });
  },
);
