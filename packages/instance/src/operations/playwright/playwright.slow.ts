import type { PlaywrightExecutors, PlaywrightResult } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { existsSync, readFileSync, rmSync } from "node:fs";
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
    more: { timeout_sec?: number; key?: string; executor?: string } = {},
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
    expect(await execute("return 1")).toEqual({ success: true, result: 1, stdout: "", stderr: "", tab: front });
    expect(
      await execute(
        "await page.setContent('<title>hello</title>'); return { title: await page.title(), same: page.context() === context, version: browser.version() };",
      ),
    ).toMatchObject({
      success: true,
      result: { title: "hello", same: true, version: expect.stringMatching(/^\d+\./) as string },
    });
    expect(await execute("await page.title()")).toEqual({ success: true, stdout: "", stderr: "", tab: front });
    expect(
      (
        await execute(
          "const { readFile } = await import('node:fs/promises'); return (await readFile('/etc/hosts')).length > 0;",
        )
      ).result,
    ).toBe(true);
  });

  it("starts another process when the idle one was killed", async () => {
    const { result: pid } = await execute("return process.pid");
    process.kill(pid as number, "SIGKILL");
    // The instance has noticed the end when the process table lacks the process.
    await eventually("the end of the idle process", () => !existsSync(`/proc/${String(pid)}`));
    const next = await execute("return process.pid");
    expect(next).toMatchObject({ success: true });
    expect(next.result).not.toBe(pid);
  });

  /** The tab of calls without an executor. */
  const front = { target_id: expect.any(String) as string, created: false };

  const executors = async () => {
    const { text } = await instance.call("GET", "/playwright/executors");
    return (JSON.parse(text) as PlaywrightExecutors).executors;
  };

  it("keeps a tab for each executor, which other calls do not use", async () => {
    const first = await execute("await page.setContent('<title>one</title>')", { executor: "one" });
    const second = await execute("await page.setContent('<title>two</title>')", { executor: "two" });
    expect([first.tab?.created, second.tab?.created]).toEqual([true, true]);
    expect(second.tab?.target_id).not.toBe(first.tab?.target_id);
    expect(await execute("return page.title()", { executor: "one" })).toMatchObject({
      result: "one",
      tab: { target_id: first.tab?.target_id, created: false },
    });
    // The latest tab is in front.
    const other = await execute("await page.setContent('<title>other</title>')", { executor: "default" });
    const own = [first.tab?.target_id, second.tab?.target_id];
    expect(other.tab).toMatchObject({ created: false });
    expect(own).not.toContain(other.tab?.target_id);
    await execute("await page.bringToFront()", { executor: "one" });
    expect(await execute("return page.title()")).toMatchObject({ result: "other", tab: other.tab });
    expect((await executors()).slice(0, 2)).toMatchObject([
      { name: "default", busy: false },
      { name: "one", busy: false, target_id: first.tab?.target_id, url: "about:blank" },
    ]);
    // The code ends with its tab, and the next call opens another one.
    await execute("await page.close()", { executor: "two" });
    expect((await executors())[2]).not.toHaveProperty("target_id");
    expect(await execute("return page.url()", { executor: "two" })).toMatchObject({
      result: "about:blank",
      tab: { created: true },
    });
    // Code cannot forge the tab.
    const forged = await execute("process.send({ type: 'tab', tab: { targetId: 'other', created: true } })", {
      executor: "one",
    });
    expect(forged.tab).toEqual({ target_id: first.tab?.target_id, created: false });
  });

  it("runs the calls of an executor one after another, and those of different ones at once", async () => {
    const wait =
      "const { existsSync } = await import('node:fs'); while (!existsSync('go')) await page.waitForTimeout(10);";
    const order = "const { appendFileSync } = await import('node:fs'); appendFileSync('order', ";
    const one = execute(`${wait} ${order}'1');`, { executor: "one" });
    await eventually(async () => (await executors()).some(({ busy, name }) => busy && name === "one"));
    const next = execute(`${order}'2');`, { executor: "one" });
    await execute(`${order}'0'); (await import('node:fs')).writeFileSync('go', '');`, { executor: "two" });
    await Promise.all([one, next]);
    expect(readFileSync(join(instance.config.root, "home/shoal/order"), "utf8")).toBe("012");
  });

  it("limits executors, and ends the calls of a deleted executor", async () => {
    const names = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    for (const executor of names.slice(2)) expect((await execute("return 1", { executor })).success).toBe(true);
    const more = await instance.call("POST", "/playwright/execute", JSON.stringify({ code: "1", executor: "nine" }));
    expect([more.status, JSON.parse(more.text)]).toMatchObject([
      409,
      {
        code: "conflict",
        message: expect.stringContaining(`Delete one: ${names.join(", ")}.`) as string,
        executors: [{ name: "default" }, ...names.map((name) => ({ name, target_id: expect.any(String) as string }))],
      },
    ]);
    const running = execute("await new Promise(() => {})", { executor: "one" });
    const waiting = execute("return 1", { executor: "one" });
    await eventually(async () => (await executors()).some(({ busy, name }) => busy && name === "one"));
    const { target_id: tab } = (await executors()).find(({ name }) => name === "one") ?? {};
    expect((await instance.call("DELETE", "/playwright/executors/one?close_tab=true")).status).toBe(204);
    const ended = { success: false, error: expect.stringContaining("executor one was deleted") as string };
    expect(await Promise.all([running, waiting])).toMatchObject([ended, ended]);
    expect((await executors()).map(({ name }) => name)).toEqual(["default", ...names.slice(1)]);
    expect((await instance.call("DELETE", "/playwright/executors/one")).status).toBe(404);
    const again = await execute("return 1", { executor: "one" });
    expect(again).toMatchObject({ success: true, tab: { created: true } });
    expect(again.tab?.target_id).not.toBe(tab);
    // The default one stays.
    const forever = execute("console.log('began'); await new Promise(() => {})");
    await eventually(async () => (await executors())[0]?.busy === true);
    await eventually(async () => {
      await instance.call("DELETE", "/playwright/executors/default");
      return (await executors())[0]?.busy === false;
    });
    expect(await forever).toMatchObject({ success: false, error: expect.stringContaining("restarted") as string });
    expect(await execute("return 1")).toMatchObject({ success: true, result: 1 });
    for (const name of names) await instance.call("DELETE", `/playwright/executors/${name}?close_tab=true`);
  });

  it("ends calls of a deleted executor that wait for other names, and closes a tab that is being opened", async () => {
    const targets = async () => (await execute("return context.pages().length")).result;
    const before = await targets();
    const first = execute("await new Promise(() => {})", { executor: "new" });
    await eventually(async () => (await executors()).some(({ name }) => name === "new"));
    expect((await instance.call("DELETE", "/playwright/executors/new?close_tab=true")).status).toBe(204);
    expect(await first).toMatchObject({ success: false, error: expect.stringContaining("new was deleted") as string });
    expect(await targets()).toBe(before);
    const names = ["a", "b", "c", "d"];
    const begin = "(await import('node:fs')).writeFileSync(`begun-${NAME}`, ''); await new Promise(() => {})";
    const running = names.map((name) => execute(begin.replace("NAME", `'${name}'`), { executor: name }));
    await eventually(() => names.every((name) => existsSync(join(instance.config.root, `home/shoal/begun-${name}`))));
    const waiting = execute("return 1", { executor: "e" });
    await eventually(async () => (await executors()).some(({ busy, name }) => busy && name === "e"));
    await instance.call("DELETE", "/playwright/executors/e?close_tab=true");
    expect(await waiting).toMatchObject({ success: false, error: expect.stringContaining("e was deleted") as string });
    for (const name of names) await instance.call("DELETE", `/playwright/executors/${name}?close_tab=true`);
    await Promise.all(running);
    expect(await targets()).toBe(before);
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

  it("keeps the first 1,048,576 characters of each channel, at little cost for further lines", async () => {
    const { stderr, stdout, success } = await execute(
      "for (let line = 0; line < 60_000; line++) console.log(String(line).padEnd(99)); console.error('end');",
    );
    expect([success, stderr]).toEqual([true, "end\n"]);
    const whole = Array.from({ length: 10_486 }, (_, line) => `${String(line).padEnd(99)}\n`).join("");
    expect(stdout).toBe(whole.slice(0, 2 ** 20));
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
    const runBoth = (timeout_sec: number) =>
      Promise.all([
        execute("console.log('begun'); while (true);", { timeout_sec }),
        execute("await new Promise(() => {})", { timeout_sec }),
      ]);
    // The process must start and reach the browser before.
    let seconds = 5;
    let [busy, waiting] = await runBoth(seconds);
    for (; busy.stdout === "" && seconds < 300; [busy, waiting] = await runBoth(seconds))
      seconds = Math.min(300, seconds * 2);
    expect(busy).toEqual({
      success: false,
      error: `The code did not end within ${seconds} s (timeout_sec) and was stopped.`,
      stdout: "begun\n",
      stderr: "",
      tab: front,
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
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        execute(`await new Promise((resolve) => setTimeout(resolve, 300)); return [${index}, process.pid];`),
      ),
    );
    expect(results.map(({ result }) => (result as number[])[0])).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(results.map(({ result }) => (result as number[])[1])).size).toBeGreaterThan(1);
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
