import { eventually } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Builder, By, Capabilities, until, type WebDriver } from "selenium-webdriver";
import type { FileDetector as Detector } from "selenium-webdriver/remote.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { missingFor } from "../testing/components.ts";
import { javaArguments, missingForJava } from "../testing/java.ts";
import { addProject } from "../testing/projects.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { firstFileIn } from "../testing/zip.ts";

// A folder of CommonJS modules.
const { FileDetector } = createRequire(import.meta.url)("selenium-webdriver/remote") as {
  readonly FileDetector: typeof Detector;
};

const page = `<!doctype html><title>shop</title><input id="name"><button onclick="alert('Hello ' + document.querySelector('#name').value)">greet</button>
<iframe srcdoc="<p>inside</p>"></iframe><input id="file" type="file" onchange="document.title = this.files[0].name">
<a href="/report.csv" download>report</a>`;

const withoutSelenium = missingInPython("selenium");
const withoutJava = missingForJava();
const missing = existsSync("/usr/bin/chromedriver") ? missingFor("sandbox") : "needs chromedriver";

describe.skipIf(missing !== undefined && process.env.SHOAL_REQUIRE_ALL !== "1")(
  `clients of WebDriver${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "webdriver"],
    ]);
    let site: Site;
    beforeAll(async () => {
      site = await serveSite((request, response) => {
        if (request.url === "/report.csv")
          response.setHeader("content-disposition", 'attachment; filename="report.csv"').end("a,b\n");
        else response.setHeader("content-type", "text/html").end(page);
      });
    });
    afterAll(() => site.close());

    const addressOf = (key = test.service.apiKey, path = "/wd/hub") =>
      test.service.baseUrl.replace("://", `://any:${key}@`) + path;
    async function open(capabilities: object = {}, address = addressOf()): Promise<WebDriver> {
      const asked = new Capabilities({ browserName: "chrome", ...capabilities });
      const driver = await new Builder().usingServer(address).withCapabilities(asked).build();
      onTestFinished(() => driver.quit().catch(() => undefined));
      return driver;
    }
    const shoalId = async (driver: WebDriver) => (await driver.getCapabilities()).get("shoal:session") as string;

    it("selenium-webdriver finds, types, clicks, answers dialogs, and changes frames and windows", async () => {
      const driver = await open({ "se:name": "greeting", "unknown:option": 1 });
      const capabilities = await driver.getCapabilities();
      expect(capabilities.get("platformName")).toBe("linux");
      expect(capabilities.get("shoal:ignored")).toEqual(["unknown:option"]);
      await driver.get(site.url);
      await driver.findElement(By.id("name")).sendKeys("Ann");
      await driver.findElement(By.css("button")).click();
      const dialog = await driver.switchTo().alert();
      expect(await dialog.getText()).toBe("Hello Ann");
      await dialog.accept();
      await driver.switchTo().frame(0);
      expect(await driver.findElement(By.css("p")).getText()).toBe("inside");
      await driver.switchTo().defaultContent();
      const first = await driver.getWindowHandle();
      await driver.switchTo().newWindow("tab");
      await driver.get(`${site.url}?second`);
      expect(await driver.getAllWindowHandles()).toHaveLength(2);
      await driver.close();
      await driver.switchTo().window(first);
      expect(await driver.executeScript("return [document.title, arguments[0]]", 7)).toEqual(["shop", 7]);
      await driver.manage().addCookie({ name: "user", value: "ann" });
      expect((await driver.manage().getCookie("user")).value).toBe("ann");
      expect(
        Buffer.from(await driver.takeScreenshot(), "base64")
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
      await driver.manage().window().setRect({ width: 900, height: 700 });
      await expect(driver.findElement(By.id("missing"))).rejects.toThrow(/no such element/);
      const id = await shoalId(driver);
      expect((await test.shoal.browsers.get(id)).origin).toEqual({
        dialect: "webdriver",
        metadata: { name: "greeting" },
      });
      await driver.quit();
      await eventually("the session has ended", async () =>
        (await test.shoal.browsers.list({ status: "deleted" })).items.some(({ session_id }) => session_id === id),
      );
    });

    it("selenium-webdriver uploads a file of its machine, lists downloads and reads them", async () => {
      const driver = await open({ "se:downloadsEnabled": true });
      driver.setFileDetector(new FileDetector());
      const folder = await mkdtemp(join(tmpdir(), "shoal-wd-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, "letter.txt"), "hello");
      await driver.get(site.url);
      await driver.findElement(By.id("file")).sendKeys(join(folder, "letter.txt"));
      await driver.wait(until.titleIs("letter.txt"), 60_000);
      await driver.findElement(By.css("a")).click();
      const id = (await driver.getSession()).getId();
      const files = `${test.service.baseUrl}/wd/hub/session/${id}/se/files`;
      const listed = await eventually("the download", async () => {
        const { value } = (await (await fetch(files)).json()) as { readonly value: { readonly names: string[] } };
        return value.names.length === 0 ? undefined : value.names;
      });
      expect(listed).toEqual(["report.csv"]);
      const answer = await fetch(files, { method: "POST", body: JSON.stringify({ name: "report.csv" }) });
      const { value } = (await answer.json()) as {
        readonly value: { readonly filename: string; readonly contents: string };
      };
      expect(value.filename).toBe("report.csv");
      expect(firstFileIn(Buffer.from(value.contents, "base64"))).toBe("a,b\n");
    });

    it("selenium-webdriver names the proxy, language, time zone and film of its session", async () => {
      const asked: string[] = [];
      const proxy = createServer((request, response) => {
        asked.push(request.url ?? "");
        response.setHeader("content-type", "text/html").end("<title>by the proxy</title>");
      });
      proxy.listen(0, "127.0.0.1");
      await once(proxy, "listening");
      onTestFinished(() => void proxy.close());
      const host = `127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
      const driver = await open({
        proxy: { proxyType: "manual", httpProxy: host, sslProxy: host, noProxy: ["127.0.0.1.nip.example"] },
        "se:recordVideo": true,
        "se:timeZone": "Asia/Tokyo",
        "goog:chromeOptions": { args: ["--lang=de-DE"] },
      });
      await driver.get("http://shop.example/");
      expect(await driver.getTitle()).toBe("by the proxy");
      expect(asked).toContain("http://shop.example/");
      const place = "return [navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]";
      expect(await driver.executeScript(place)).toEqual(["de-DE", "Asia/Tokyo"]);
      const film = (await driver.getCapabilities()).get("shoal:video") as string;
      const id = await shoalId(driver);
      // The proxy is not stored.
      expect((await test.shoal.proxies.list()).items).toEqual([]);
      await driver.quit();
      const { status, headers } = await eventually("the film is complete", async () => {
        const answer = await fetch(film);
        await answer.body?.cancel();
        return answer.status === 200 ? answer : undefined;
      });
      expect([status, headers.get("content-type")]).toEqual([200, "video/mp4"]);
      expect((await test.shoal.browsers.get(id, { include_deleted: true })).ended_reason).toBe("deleted");
    });

    it.each(["169.254.169.254:80", "10.0.0.1:3128", "[::1]:80"])(
      "no session of selenium-webdriver leaves through the private address %s",
      async (host) => {
        const proxy = { proxyType: "manual", httpProxy: host, sslProxy: host };
        const driver = await open({ proxy }).catch((error: unknown) => error);
        if (driver instanceof Error) return;
        await (driver as WebDriver).get("http://shop.example/");
        expect(await (driver as WebDriver).executeScript("return location.protocol")).toBe("chrome-error:");
      },
    );

    it("selenium-webdriver connects to CDP", async () => {
      const driver = await open();
      await driver.get(site.url);
      const cdp = (await driver.createCDPConnection("page")) as {
        send(method: string, params: object): Promise<unknown>;
      };
      const { result } = (await cdp.send("Runtime.evaluate", { expression: "document.title" })) as {
        readonly result: { readonly result: { readonly value: string } };
      };
      expect(result.result.value).toBe("shop");
    });

    it("selenium-webdriver speaks WebDriver BiDi in the same session, and leaves dialogs to its commands", async () => {
      const driver = await open({ webSocketUrl: true });
      const bidi = (await driver.getBidi()) as unknown as {
        send(
          command: object,
        ): Promise<{ readonly result: { readonly contexts: readonly { readonly context: string }[] } }>;
        close(): Promise<void>;
      };
      const { result } = await bidi.send({ method: "browsingContext.getTree", params: {} });
      expect(result.contexts.map(({ context }) => context)).toEqual([await driver.getWindowHandle()]);
      await driver.get(site.url);
      await driver.findElement(By.css("button")).click();
      const dialog = await driver.switchTo().alert();
      expect(await dialog.getText()).toBe("Hello ");
      await dialog.accept();
    });

    it.skipIf(withoutSelenium !== undefined)(
      `Selenium for Python answers a dialog, reads console lines by BiDi, and moves files${withoutSelenium === undefined ? "" : ` (skipped, ${withoutSelenium})`}`,
      async () => {
        const client = join(import.meta.dirname, "selenium_client.py");
        const { stdout } = await promisify(execFile)(python, [client, addressOf(), site.url]);
        expect(stdout).toBe("Hello Ann\nfrom the page\nletter.txt\na,b\n");
        await expect.poll(async () => (await test.shoal.browsers.list()).items).toEqual([]);
      },
    );

    it.skipIf(withoutJava !== undefined)(
      `Selenium for Java finds, reads console lines by BiDi, speaks CDP, and moves files${withoutJava === undefined ? "" : ` (skipped, ${withoutJava})`}`,
      async () => {
        const folder = await mkdtemp(join(tmpdir(), "shoal-wd-"));
        onTestFinished(() => rm(folder, { recursive: true }));
        const program = javaArguments(join(import.meta.dirname, "SeleniumClient.java"));
        const { stdout } = await promisify(execFile)("java", [...program, addressOf(), site.url, folder]);
        expect(stdout).toBe("Hello Ann\nfrom the page\nshop\nletter.txt\na,b\n4\n2\n");
        await expect.poll(async () => (await test.shoal.browsers.list()).items).toEqual([]);
      },
    );

    it("the session id is the right, and a key that is sent must be of the same project", async () => {
      const driver = await open();
      const id = (await driver.getSession()).getId();
      const { key: other } = await addProject(test, "another");
      const statusOf = async (path: string, authorization?: string) => {
        const answer = await fetch(`${test.service.baseUrl}${path}`, {
          headers: authorization ? { authorization } : {},
        });
        const { value } = (await answer.json()) as { readonly value: { readonly error?: string } };
        return [answer.status, value.error];
      };
      expect(await statusOf(`/wd/hub/session/${id}/title`)).toEqual([200, undefined]);
      expect(await statusOf(`/session/${id}/title`, `Bearer ${test.service.apiKey}`)).toEqual([200, undefined]);
      expect(await statusOf(`/session/${id}/title`, `Bearer ${other}`)).toEqual([404, "invalid session id"]);
      expect(await statusOf(`/session/${id}/title`, "Bearer sk_shoal_wrong")).toEqual([401, "unknown error"]);
      expect((await statusOf(`/session/${id.slice(0, -2)}xx/title`))[0]).toBe(401);
      expect(await statusOf("/wd/hub/session/unknown/title")).toEqual([404, "invalid session id"]);
      expect(await statusOf(`/session/${id}/unknown`)).toEqual([404, "unknown command"]);
      const { name } = await test.shoal.browsers.create({ name: "named" });
      const named = `/browsers/${name ?? ""}/wd/session`;
      expect(await statusOf(`${named}/title`, `Bearer ${test.service.apiKey}`)).toEqual([404, "invalid session id"]);
      expect(await statusOf("/wd/hub/graphql")).toEqual([404, "unknown command"]);
      await expect(open({}, addressOf("sk_shoal_wrong"))).rejects.toThrow(/key/i);
      await expect(open({ browserName: "firefox" })).rejects.toThrow(/Chromium/);
      await expect(open({ browserVersion: "12" })).rejects.toThrow(/Chromium/);
    });

    it("a session of a client that was killed ends when no command comes", async () => {
      const driver = await open({ "shoal:options": { timeout_seconds: 30 } });
      await driver.get(site.url);
      const id = await shoalId(driver);
      await eventually("the session has ended", async () => {
        const { ended_reason: reason } = await test.shoal.browsers.get(id, { include_deleted: true });
        return reason === "timeout";
      });
      await expect(driver.getTitle()).rejects.toThrow(/session/i);
    });
  },
);
