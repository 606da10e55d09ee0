import type { BrowserSession } from "@shoal/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";

const test = useService();
let browser: BrowserSession;
beforeAll(async () => {
  browser = await test.shoal.browsers.create({ timeout_seconds: 600 });
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
});

it("reads and writes files, and reports changes of a directory", async () => {
  const { files } = browser;
  await files.makeDirectory("/home/shoal/inbox");
  await using changes = await browser.watch("/home/shoal/inbox");
  await files.write("/home/shoal/inbox/note.txt", "größe");
  await files.move("/home/shoal/inbox/note.txt", "/home/shoal/inbox/done.txt");
  const seen: string[] = [];
  for await (const { path } of changes) if (seen.push(path) && path.endsWith("done.txt")) break;
  expect(await files.readText("/home/shoal/inbox/done.txt")).toBe("größe");
  expect((await files.list("/home/shoal/inbox")).map(({ name }) => name)).toEqual(["done.txt"]);
  expect(await files.info("/home/shoal/inbox/done.txt")).toMatchObject({ size_bytes: 7 });
  await files.delete("/home/shoal/inbox", { recursive: true });
  await expect(files.info("/home/shoal/inbox")).rejects.toMatchObject({ status: 404 });
});

it("runs commands, and talks to a process", async () => {
  expect(await browser.run("sh", ["-c", "echo out; echo err >&2; exit 3"])).toMatchObject({
    exitCode: 3,
    stdout: "out\n",
    stderr: "err\n",
  });
  await using cat = await browser.spawn("cat");
  await cat.write("hello\n");
  for await (const piece of cat.output())
    if (piece.kind === "stdout") {
      expect(new TextDecoder().decode(piece.bytes)).toBe("hello\n");
      break;
    }
  await cat.write("", { close: true });
  expect(await cat.wait()).toBe(0);
  await using sleep = await browser.spawn("sleep", ["600"]);
  await sleep.kill();
  expect(await sleep.wait()).toBe(143);
});

it("evaluates code in the page, and throws what the page threw", async () => {
  await browser.evaluate(() => {
    document.title = "Fish";
  });
  expect(await browser.evaluate("document.title")).toBe("Fish");
  expect(await browser.evaluate((words: string[]) => words.join(" "), ["two", "words"])).toBe("two words");
  await expect(browser.evaluate("document.querySelector('#none').click()")).rejects.toMatchObject({
    name: "TypeError",
    message: "Cannot read properties of null (reading 'click')",
  });
});

it("connects Playwright to its page", async () => {
  const title = await browser.withPage(async (page) => {
    await page.goto("data:text/html,<title>Herring</title>");
    return page.title();
  });
  expect(title).toBe("Herring");
  const same = await test.shoal.browsers.attach(browser.session_id);
  expect(await same.evaluate("document.title")).toBe("Herring");
});

it("connects Playwright to the tab in front, which code uses as well", async () => {
  await browser.openTab("data:text/html,<title>Cod</title>");
  expect(await browser.evaluate("document.title")).toBe("Cod");
  expect(await browser.withPage((page) => page.title())).toBe("Cod");
});

it("records its screen", async () => {
  const replay = await browser.replay.start();
  await browser.evaluate("document.body.textContent = 'moved'");
  await replay.stop();
  const film = await replay.download();
  expect((await new Response(film.stream).arrayBuffer()).byteLength).toBeGreaterThan(1000);
  expect(await browser.replay.list()).toHaveLength(1);
});
