import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { missingFor } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const page = `<!doctype html><title>shop</title><input id="name"><button onclick="alert('Hello ' + document.querySelector('#name').value)">greet</button>
<p>fish</p>`;

const require = createRequire(import.meta.url);
const nightwatch = join(dirname(require.resolve("nightwatch/package.json")), "bin", "nightwatch");
/** Its package exports no program. */
const codeceptjs = join(dirname(require.resolve("codeceptjs")), "..", "bin", "codecept.js");
const missing = existsSync("/usr/bin/chromedriver") ? missingFor("sandbox") : "needs chromedriver";

/** Address parts of the service, as all of these clients want them. */
const address = `const { hostname, port } = new URL(process.env.SHOAL_URL);
const key = process.env.SHOAL_API_KEY, site = process.env.SITE_URL;`;

const nightwatchConfig = `${address}
module.exports = {
  src_folders: [require("node:path").join(__dirname, "greet.cjs")],
  output_folder: false,
  test_settings: {
    default: {
      webdriver: { start_process: false, host: hostname, port: Number(port), ssl: false, default_path_prefix: "/wd/hub" },
      username: "any",
      access_key: key,
      desiredCapabilities: { browserName: "chrome" },
    },
  },
};`;
const nightwatchSuite = `describe("greet", () => {
  it("types, clicks and opens a tab", (browser) => {
    browser.url(process.env.SITE_URL).setValue("#name", "Ann").click("button");
    browser.alerts.getText(({ value }) => browser.assert.equal(value, "Hello Ann"));
    browser.alerts.accept();
    browser.assert.titleEquals("shop");
    browser.window.open("tab");
    browser.navigateTo(process.env.SITE_URL + "?second");
    browser.window.getAllHandles(({ value }) => browser.assert.equal(value.length, 2));
    browser.end();
  });
});`;

const codeceptConfig = `${address}
export const config = {
  name: "greet",
  tests: "./greet_test.js",
  output: "./output",
  helpers: {
    WebDriver: { url: site, browser: "chrome", protocol: "http", host: hostname, port: Number(port), path: "/wd/hub", user: "any", key },
  },
};`;
const codeceptSuite = `Feature("greet");
Scenario("types, clicks and opens a tab", async ({ I }) => {
  I.amOnPage("/");
  I.fillField("#name", "Ann");
  I.click("button");
  I.seeInPopup("Hello Ann");
  I.acceptPopup();
  I.seeInTitle("shop");
  I.openNewTab();
  I.amOnPage("/?second");
  I.see("fish");
});`;

const webdriverio = (module: string) => `import { remote } from ${JSON.stringify(module)};
import { deepEqual } from "node:assert/strict";
${address}
const browser = await remote({
  logLevel: "error",
  ...{ protocol: "http", hostname, port: Number(port), path: "/wd/hub", user: "any", key },
  capabilities: { browserName: "chrome" },
});
await browser.url(site);
await browser.$("#name").setValue("Ann");
const greeted = new Promise((resolve) =>
  browser.once("dialog", async (dialog) => {
    await dialog.accept();
    resolve(dialog.message());
  }),
);
await browser.$("button").click();
await browser.newWindow(site + "?second", { type: "tab" });
deepEqual([await greeted, await browser.getTitle(), (await browser.getWindowHandles()).length], ["Hello Ann", "shop", 2]);
await browser.deleteSession();
console.log("passed");`;

describe.skipIf(missing !== undefined && process.env.SHOAL_REQUIRE_ALL !== "1")(
  `test frameworks over WebDriver${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "webdriver"],
    ]);
    let site: Site;
    beforeAll(async () => {
      site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(page));
    });
    afterAll(() => site.close());

    /** Runs a client in a folder with these files. @returns its output. @throws with the output if it fails. */
    async function run(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), "shoal-framework-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      const { apiKey, baseUrl } = test.service;
      const env = { ...process.env, SHOAL_URL: baseUrl, SHOAL_API_KEY: apiKey, SITE_URL: site.url, NO_COLOR: "1" };
      // Nightwatch looks for its plugins from the folder of the suite, as npm installs them there.
      Object.assign(env, { NODE_PATH: dirname(dirname(require.resolve("nightwatch/package.json"))) });
      const { stdout } = await promisify(execFile)(process.execPath, [...args], { cwd: folder, env });
      return stdout;
    }
    const origins = async () => (await test.shoal.browsers.list({ status: "all" })).items.map(({ origin }) => origin);

    it("Nightwatch runs a suite", async () => {
      const before = await origins();
      const files = { "nightwatch.conf.cjs": nightwatchConfig, "greet.cjs": nightwatchSuite };
      expect(await run(files, [nightwatch, "--config", "nightwatch.conf.cjs"])).toContain("PASSED. 3 assertions");
      expect(await origins()).toEqual([{ dialect: "webdriver" }, ...before]);
    });

    it("CodeceptJS runs a suite", async () => {
      const before = await origins();
      const files = {
        "package.json": '{ "type": "module" }',
        "codecept.conf.js": codeceptConfig,
        "greet_test.js": codeceptSuite,
      };
      expect(await run(files, [codeceptjs, "run"])).toContain("1 passed");
      expect(await origins()).toEqual([{ dialect: "webdriver" }, ...before]);
    });

    it("WebdriverIO speaks BiDi in its session, and ends it", async () => {
      const module = pathToFileURL(require.resolve("webdriverio")).href;
      expect(await run({ "greet.mjs": webdriverio(module) }, ["greet.mjs"])).toContain("passed");
      expect((await test.shoal.browsers.list({ status: "deleted" })).items[0]).toMatchObject({
        origin: { dialect: "webdriver" },
        ended_reason: "deleted",
      });
    });
  },
);
