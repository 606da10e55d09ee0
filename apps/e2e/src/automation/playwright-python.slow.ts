import { eventually } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";

const run = promisify(execFile);
const version = "1.65.2";
const program = `
import os, sys
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect(os.environ["ADDRESS"])
    page = browser.new_context(accept_downloads=True).new_page()
    page.set_content("<title>python</title><input type=file><a download=saved.txt href='data:text/plain,a%20file'>save</a>")
    page.set_input_files("input", "letter.txt")
    print(page.title(), page.evaluate("document.querySelector('input').files[0].text()"))
    with page.expect_download() as started:
        page.click("a")
    started.value.save_as("saved.txt")
    browser.close()
`;

const test = useService(() => ["--placement", "process"]);

it("serves Playwright for Python", async ({ skip }) => {
  const python = join(test.folder, "python");
  try {
    await run("python3", ["-m", "venv", python]);
    await run(join(python, "bin/pip"), ["install", "--quiet", `playwright==${version}`]);
  } catch (error) {
    skip(`Playwright for Python cannot be installed here: ${String(error).slice(0, 300)}`);
  }
  await writeFile(join(test.folder, "letter.txt"), "hello from here");
  await writeFile(join(test.folder, "client.py"), program);
  const address = `${test.service.baseUrl.replace(/^http/, "ws")}/playwright?disconnect_timeout_seconds=0&token=${test.service.apiKey}`;
  const { stdout } = await run(join(python, "bin/python"), ["client.py"], {
    cwd: test.folder,
    env: { ...process.env, ADDRESS: address },
  });
  expect(stdout.trim()).toBe("python hello from here");
  expect(await readFile(join(test.folder, "saved.txt"), "utf8")).toBe("a file");
  await eventually("its session ends", async () => (await test.shoal.browsers.list()).items.length === 0);
});
