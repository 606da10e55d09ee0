import type { PlaywrightResult } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { existsSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { killBrowser, processesWith } from "../../testing/processes.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

describeChromium("Playwright code", (chromium) => {
  let instance: RunningInstance;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await mkdir(join(instance.config.root, "home/shoal"), { recursive: true });
    await instance.assign({ timeout_seconds: 300 });
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function execute(
    code: string,
    more: { timeout_sec?: number; key?: string } = {},
    on = instance,
  ): Promise<PlaywrightResult> {
    const { key, ...body } = more;
    const { status, text } = await on.call(
      "POST",
      "/playwright/execute",
      JSON.stringify({ code, ...body }),
      key === undefined ? {} : { "idempotency-key": key },
    );
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as PlaywrightResult;
  }

  it("has page, context and browser in scope, and returns JSON", async () => {
    expect(await execute("return 1")).toEqual({ success: true, result: 1, stdout: "", stderr: "" });
    expect(
      await execute(
        "await page.setContent('<title>hello</title>'); return { title: await page.title(), same: page.context() === context, version: browser.version() };",
      ),
    ).toMatchObject({
      success: true,
      result: { title: "hello", same: true, version: expect.stringMatching(/^\d+\./) as string },
    });
    expect(await execute("await page.title()")).toEqual({ success: true, stdout: "", stderr: "" });
    expect(
      (
        await execute(
          "const { readFile } = await import('node:fs/promises'); return (await readFile('/etc/hosts')).length > 0;",
        )
      ).result,
    ).toBe(true);
  });

  it("accepts TypeScript, including enums", async () => {
    expect(
      await execute(
        "interface Point { x: number }\nconst point: Point = { x: 2 } satisfies Point;\nreturn point.x as unknown;",
      ),
    ).toMatchObject({
      success: true,
      result: 2,
    });
    expect(await execute("enum Colour { Red = 'red' }\nreturn Colour.Red;")).toMatchObject({
      success: true,
      result: "red",
    });
  });

  it("returns the output in order and by channel", async () => {
    expect(
      await execute(
        "console.log('one', { a: 1 }); console.error('two'); process.stdout.write('three\\n'); console.warn('four');",
      ),
    ).toMatchObject({ success: true, stdout: "one { a: 1 }\nthree\n", stderr: "two\nfour\n" });
  });

  it("names the failed line", async () => {
    expect((await execute("const a = 1;\nthrow new RangeError(`no ${a}`);")).error).toBe(
      "RangeError: no 1\n    at code.ts:2:7",
    );
    expect((await execute("throw new Error('first')")).error).toBe("Error: first\n    at code.ts:1:7");
    const missing = await execute("\n\nawait page.click('#none', { timeout: 100 });");
    expect(missing.success).toBe(false);
    expect(missing.error).toMatch(/^TimeoutError: page\.click: Timeout 100ms exceeded\.[\s\S]*at code\.ts:3:\d+$/);
    expect((await execute("enum A { B }\n\nconst f = () => { throw new Error('in ' + A.B); };\n\nf();")).error).toMatch(
      /^Error: in 0\n {4}at code\.ts:3:\d+\n {4}at code\.ts:5:\d+$/,
    );
    expect((await execute("return (;")).error).toMatch(/^SyntaxError: /);
    expect((await execute("let x: number = 1;\nlet x = 2;")).error).toMatch(/^SyntaxError: .*x.*[\s\S]*2/);
    expect((await execute("throw { reason: 5 }")).error).toBe("The code threw { reason: 5 }");
    expect((await execute("return 1n")).error).toMatch(/cannot be sent as JSON/);
    expect((await execute("process.exit(3)")).error).toBe("The process that ran the code ended with exit code 3.");
    expect(
      (await execute("setTimeout(() => { throw new Error('later'); }); await page.waitForTimeout(20_000);")).error,
    ).toMatch(/^Error: later/);
  });

  it("is stopped at its timeout, and the next call works in the same browser", async () => {
    await execute("await page.setContent('<title>still here</title>')");
    // Long enough for the process to start and to reach the browser.
    const [busy, waiting] = await Promise.all([
      execute("console.log('begun'); while (true);", { timeout_sec: 5 }),
      execute("await new Promise(() => {})", { timeout_sec: 5 }),
    ]);
    expect(busy).toEqual({
      success: false,
      error: "The code did not end within 5 s (timeout_sec) and was stopped.",
      stdout: "begun\n",
      stderr: "",
    });
    expect(waiting.error).toMatch(/timeout_sec/);
    expect(await execute("return page.title()")).toMatchObject({ success: true, result: "still here" });
    expect(instance.events.filter(({ type }) => type === "browser_restarted")).toEqual([]);
  });

  it("leaves only its pages behind", async () => {
    await execute(
      "globalThis.left = 1; await page.route('**/*', (route) => route.abort()); await page.emulateMedia({ colorScheme: 'dark' }); await browser.newContext(); setInterval(() => undefined, 10); await page.setContent('<title>kept</title>');",
    );
    expect(
      (
        await execute(
          "return [typeof left, await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches), browser.contexts().length, await page.title()]",
        )
      ).result,
    ).toEqual(["undefined", false, 1, "kept"]);
  });

  it("runs four calls at once in separate processes, and runs repeated keys once", async () => {
    const begun = Date.now();
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        execute(`await new Promise((resolve) => setTimeout(resolve, 300)); return [${index}, process.pid];`),
      ),
    );
    expect(results.map(({ result }) => (result as number[])[0])).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(results.map(({ result }) => (result as number[])[1])).size).toBeGreaterThan(1);
    expect(Date.now() - begun).toBeLessThan(30_000);
    const [one, two] = await Promise.all([1, 2].map(() => execute("return Math.random()", { key: "once" })));
    expect(one).toEqual(two);
  });

  it("ends only its own connection with Browser.close", async () => {
    expect(
      (
        await execute(
          "const session = await browser.newBrowserCDPSession(); await session.send('Browser.close'); return 1;",
        )
      ).success,
    ).toBe(false);
    expect((await execute("await browser.close(); return 'closed'")).success).toBe(false);
    expect(await execute("return 'again'")).toMatchObject({ result: "again" });
    expect(instance.events.filter(({ type }) => type === "browser_restarted")).toEqual([]);
  });

  it("fails when the browser crashes, and works in the next browser", async () => {
    await using other = await runInstance({ chromium });
    await mkdir(join(other.config.root, "home/shoal"), { recursive: true });
    await other.assign({ timeout_seconds: 300 });
    const begun = join(other.config.root, "home/shoal/begun");
    const begin = "(await import('node:fs')).writeFileSync('begun', '');";
    const running = execute(`${begin} await new Promise(() => {})`, {}, other);
    await eventually(() => existsSync(begun));
    killBrowser(other.config.session_dir);
    expect(await running).toMatchObject({ success: false, error: expect.stringMatching(/browser crashed/) as string });
    await eventually(
      async () =>
        (await other.call("POST", "/playwright/execute", JSON.stringify({ code: "return 1" }))).status === 200,
    );
    rmSync(begun);
    const cut = other.call("POST", "/playwright/execute", JSON.stringify({ code: `${begin} while (true);` }));
    await eventually(() => existsSync(begun));
    await other.call("POST", "/_instance/stop");
    expect(await cut.then(({ status, text }) => [status, (JSON.parse(text) as { code: string }).code])).toEqual([
      503,
      "shutting_down",
    ]);
    await other.exited;
    // The kernel takes a moment for the last processes of a killed group.
    await eventually(() => processesWith(other.config.session_dir).length === 0);
  });

  it("works at the same time as a CDP client", async () => {
    const socket = await instance.connect();
    const client = cdpClient(socket);
    await client.send("Target.setDiscoverTargets", { discover: true });
    expect((await execute("return context.pages().length")).result).toBe(1);
    expect(await client.send("Browser.getVersion")).toMatchObject({
      result: { product: expect.any(String) as string },
    });
    socket.close();
  });
});
