import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../config/config.ts";
import { zipOf } from "../testing/zip.ts";
import { startServer } from "./server.ts";

/** The vendor's public template, with a page that needs no network. */
const sample = `
import { Kernel, type KernelContext } from "@onkernel/sdk";
import { chromium } from "playwright-core";
const kernel = new Kernel();
const app = kernel.app("ts-basic");
interface PageTitleInput { url: string }
app.action<PageTitleInput, { title: string }>("get-page-title", async (ctx: KernelContext, payload?: PageTitleInput) => {
  if (!payload?.url) throw new Error("URL is required");
  const kernelBrowser = await kernel.browsers.create({ invocation_id: ctx.invocation_id });
  const browser = await chromium.connectOverCDP(kernelBrowser.cdp_ws_url);
  const context = browser.contexts()[0] || (await browser.newContext());
  const page = context.pages()[0] || (await context.newPage());
  try {
    await page.goto(payload.url);
    return { title: await page.title() };
  } finally {
    await kernel.browsers.deleteByID(kernelBrowser.session_id);
  }
});
`;

it("deploys and invokes the vendor's sample app, which opens a browser, also behind a public URL", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "shoal-sample-test-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const running = await startServer(
    loadConfig({
      env: { SHOAL_BUILD_REGISTRY_CA: process.env.NODE_EXTRA_CA_CERTS, SHOAL_LOG_LEVEL: "error" },
      flags: { data_dir: dataDir, port: "0", public_url: "https://shoal.example/api" },
    }),
  );
  onTestFinished(() => running.close());
  const call = async (method: string, path: string, body?: string | FormData): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${running.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${running.apiKey ?? ""}`,
        ...(typeof body === "string" && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  const form = new FormData();
  const archive = await zipOf({
    "package.json": JSON.stringify({
      type: "module",
      dependencies: { "@onkernel/sdk": "^0.23.0", "playwright-core": "^1.56.0" },
    }),
    "index.ts": sample,
  });
  form.set("file", new Blob([new Uint8Array(archive)]), "app.zip");
  form.set("entrypoint_rel_path", "index.ts");
  const deployment = await call("POST", "/deployments", form);
  const id = String(deployment.id);
  await expect.poll(async () => (await call("GET", `/deployments/${id}`)).status).toMatch(/running|failed/);
  expect(await call("GET", `/deployments/${id}`)).toMatchObject({ status: "running" });
  const invocation = await call(
    "POST",
    "/invocations",
    JSON.stringify({
      app_name: "ts-basic",
      action_name: "get-page-title",
      version: "latest",
      payload: JSON.stringify({ url: "data:text/html,<title>hello</title>" }),
    }),
  );
  expect(invocation).toMatchObject({ status: "succeeded", output: '{"title":"hello"}' });
});
