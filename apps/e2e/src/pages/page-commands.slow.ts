import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtCommand } from "../testing/guide-runs.ts";
import { runService, type TestService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const shop = `<!doctype html><title>Orders</title><h1>Orders</h1><a href="/report">Download report</a>
  <button onclick="if (confirm('Delete all?')) document.title = 'Deleted'">Delete</button>
  <p>You have three orders. The first one arrives on Monday, the others later in the week.</p>`;
const login = `<!doctype html><title>Sign in</title><form action="/orders" method="post"><label>Name <input name="name"></label>
  <label>Password <input type="password" name="password"></label><button>Sign in</button></form>`;

let site: Site;
let test: TestService & { end(): Promise<void> };
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-pages-"));
  site = await serveSite((request, response) => {
    void text(request).then((form) => {
      const isSignedIn = form.includes("name=Ada") && form.includes("password=paper-boat");
      if (request.url === "/report")
        response.setHeader("content-disposition", 'attachment; filename="report.txt"').end("3 orders");
      else response.setHeader("content-type", "text/html").end(isSignedIn ? shop : login);
    });
  });
  test = await runService(["--allow-private-hosts", site.host]);
});
afterAll(async () => {
  await test.end();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `shoal` without a terminal, as a program does. */
function shoal(args: readonly string[], input = ""): Promise<Ran> {
  const { apiKey, baseUrl } = test.service;
  const env = { PATH: process.env.PATH, SHOAL_CONFIG_DIR: folder, SHOAL_BASE_URL: baseUrl, SHOAL_API_KEY: apiKey };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [builtCommand, ...args], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ status: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

/** The reference of the element with this role and name in a snapshot. */
function refOf(snapshot: string, element: string): string {
  return new RegExp(String.raw`${element}.*?\[(e\d+)\]`).exec(snapshot)?.[1] ?? expect.fail(snapshot);
}

it("signs in, downloads a file and answers a dialog with commands of one session", async () => {
  const opened = await shoal(["open", site.url]);
  expect(opened).toMatchObject({ status: 0, stdout: `Navigated: t1 ${site.url} "Sign in" (200)\n` });
  expect(opened.stderr).toMatch(/^Started session [a-z0-9]+\.\n$/);

  const form = (await shoal(["snapshot"])).stdout;
  expect(form).toMatch(/^Page: t1 http.*"Sign in"\n/);
  await shoal(["fill", refOf(form, 'textbox "Name"'), "Ada"]);
  const typed = await shoal(["fill", refOf(form, 'textbox "Password"'), "-", "--submit"], "paper-boat\n");
  expect(typed.stdout).toMatch(/^Navigated: .*"Orders"/m);
  expect(typed.stdout + typed.stderr).not.toContain("paper-boat");

  const orders = (await shoal(["snapshot"])).stdout;
  expect((await shoal(["read"])).stdout).toContain("You have three orders.");
  expect((await shoal(["click", refOf(orders, 'link "Download report"')])).stdout).toContain("Download: report.txt");
  expect((await shoal(["click", refOf(orders, 'button "Delete"')])).stdout).toContain(
    'Open dialog: confirm "Delete all?"',
  );
  expect((await shoal(["dialog", "accept"])).status).toBe(0);
  await expect.poll(async () => (await shoal(["tabs"])).stdout).toMatch(/t1 .*Deleted/);
  expect((await shoal(["screenshot", "-f", "page.png"])).stderr).toMatch(/^Saved page\.png/);
  const picture = readFileSync(join(folder, "page.png"));
  expect(picture.subarray(1, 4).toString()).toBe("PNG");
  expect((await shoal(["screenshot"])).stderr).toMatch(/^Saved page-2\.png/);
  expect((await shoal(["screenshot"])).stderr).toMatch(/^Saved page-3\.png/);
  expect(readFileSync(join(folder, "page.png"))).toEqual(picture);
  expect(await shoal(["close"])).toMatchObject({ status: 0 });
});

it("explains missing sessions, stale references and invalid values", async () => {
  expect(await shoal(["click", "e1"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("This terminal has no current session.") as unknown,
  });
  await shoal(["open", site.url]);
  expect(await shoal(["click", "e99"])).toMatchObject({
    status: 5,
    stderr: expect.stringMatching(/e99 is not a reference.*\n.*Observe the page again/) as unknown,
  });
  expect(await shoal(["wait", "--wait", "soon"])).toMatchObject({ status: 2 });
  expect(await shoal(["dialog", "perhaps"])).toMatchObject({ status: 2 });
  expect(await shoal(["tabs", "t9"])).toMatchObject({
    status: 4,
    stderr: expect.stringContaining("Open tabs: t1") as unknown,
  });
  const [session] = (await test.shoal.browsers.list()).items;
  await test.shoal.browsers.delete(session?.session_id ?? "");
  expect(await shoal(["read"])).toMatchObject({
    status: 4,
    stderr: expect.stringMatching(/has ended\.\n.*shoal open URL/) as unknown,
  });
  // A new session replaces the ended one.
  expect((await shoal(["open", site.url])).stderr).toContain("Started session");
});

it("uploads local files", async () => {
  const { stdout } = await shoal(["open", "data:text/html,<label>File <input type=file></label>"]);
  expect(stdout).toContain("Navigated:");
  const { stdout: chosen } = await shoal(["upload", "input", "page.png", "-o", "json"]);
  expect(JSON.parse(chosen)).toMatchObject({ element: { value: expect.stringContaining("page.png") as unknown } });
});
