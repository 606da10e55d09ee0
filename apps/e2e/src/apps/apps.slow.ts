import { eventually } from "@shoal/testkit";
import Kernel from "@onkernel/sdk";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeApp } from "../testing/app-files.ts";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { zipOf } from "../testing/zip.ts";

const run = promisify(execFile);
const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");

/** As in the vendor's public template. */
const files = {
  "package.json": JSON.stringify({
    name: "ts-basic",
    module: "index.ts",
    type: "module",
    private: true,
    dependencies: { "@onkernel/sdk": "^0.23.0", "playwright-core": "^1.56.0" },
  }),
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      target: "ESNext",
      module: "Preserve",
      moduleResolution: "bundler",
      verbatimModuleSyntax: true,
      jsx: "react-jsx",
      noEmit: true,
      strict: true,
    },
  }),
  "index.ts": `
import { Kernel, type KernelContext } from "@onkernel/sdk";
import { titleOf } from "./title";

const kernel = new Kernel();
const app = kernel.app("ts-basic");

app.action<{ url: string }, { title: string }>("get-page-title", async (ctx: KernelContext, payload?) => {
  if (!payload?.url) throw new Error("URL is required");
  const kernelBrowser = await kernel.browsers.create({ invocation_id: ctx.invocation_id });
  console.log("Browser: " + kernelBrowser.session_id);
  try {
    return { title: await titleOf(kernelBrowser.cdp_ws_url, payload.url) };
  } finally {
    await kernel.browsers.deleteByID(kernelBrowser.session_id);
  }
});

app.action("create-browser-for-testing", async (ctx: KernelContext) => {
  const kernelBrowser = await kernel.browsers.create({ invocation_id: ctx.invocation_id, timeout_seconds: 3600 });
  return { browser_live_view_url: kernelBrowser.browser_live_view_url };
});
`,
  "title.ts": `
import { chromium } from "playwright-core";
export async function titleOf(cdp: string, url: string): Promise<string> {
  const browser = await chromium.connectOverCDP(cdp);
  const context = browser.contexts()[0] || (await browser.newContext());
  const page = context.pages()[0] || (await context.newPage());
  await page.goto(url);
  return page.title();
}
`,
};

const [{ placement, skip, title } = { placement: "sandbox", skip: true, title: "" }] = placements;

describe.skipIf(skip)(`the hosted service's sample app in the placement ${title}`, () => {
  const test = useService(() => ["--placement", placement]);
  const folder = mkdtempSync(join(tmpdir(), "shoal-app-test-"));
  let kernel: Kernel;
  beforeAll(() => {
    kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
    writeApp(folder, files);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const env = () => ({
    HOME: folder,
    PATH: process.env.PATH ?? "",
    SHOAL_CONFIG_DIR: join(folder, ".config"),
    SHOAL_KEYCHAIN: "0",
    SHOAL_API_KEY: test.service.apiKey,
    SHOAL_BASE_URL: test.service.baseUrl,
    NO_COLOR: "1",
  });
  const shoal = (...args: string[]) => run(process.execPath, [command, ...args], { cwd: folder, env: env() });
  const payload = JSON.stringify({ url: "data:text/html,<title>hello</title>" });

  it("is deployed and invoked by the SDK it is written for", async () => {
    const archive = await zipOf(Object.entries(files).map(([name, content]) => ({ name, content })));
    const { id } = await kernel.deployments.create({
      file: new File([archive], "app.zip"),
      entrypoint_rel_path: "index.ts",
    });
    const deployment = await eventually("the build ends", async () => {
      const found = await kernel.deployments.retrieve(id);
      return /running|failed/.test(found.status) ? found : undefined;
    });
    expect([deployment.status, deployment.status_reason ?? ""]).toEqual(["running", ""]);
    const call = { app_name: "ts-basic", version: "latest" };
    const made = await kernel.invocations.create({ ...call, action_name: "get-page-title", payload });
    expect(made).toMatchObject({ status: "succeeded", output: '{"title":"hello"}' });
    const kept = await kernel.invocations.create({ ...call, action_name: "create-browser-for-testing" });
    expect(kept).toMatchObject({
      status: "succeeded",
      output: expect.stringContaining("browser_live_view_url") as unknown,
    });
    expect((await kernel.invocations.listBrowsers(kept.id)).browsers).toHaveLength(1);
    await kernel.invocations.deleteBrowsers(kept.id);
  });

  it("is deployed, invoked and deleted by the command, and its processes end", async () => {
    const { stderr } = await shoal("deploy", "index.ts", "--version", "v2");
    expect(stderr).toMatch(/Deployment \w+ is running\./);
    const { stdout } = await shoal("invoke", "ts-basic", "get-page-title", "--version", "v2", "-p", payload);
    expect(stdout).toContain("Browser: ");
    expect(stdout).toContain("hello");
    for (const { id } of (await kernel.deployments.list()).getPaginatedItems())
      await shoal("deployments", "delete", id, "--yes");
    await eventually("no process is left", () => test.processes().length === 0);
    expect((await test.shoal.browsers.list()).items).toEqual([]);
  });
});
