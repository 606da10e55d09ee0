import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { vendored, writeApp } from "../testing/app-files.ts";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { sessionFolders } from "../testing/session-folder.ts";
import { zipOf } from "../testing/zip.ts";

const run = promisify(execFile);
const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");

const source = `
import { Shoal } from "@shoal/client";
import { app } from "@shoal/client/app";
import * as z from "zod";
import { evaluate } from "./page";

const shop = app("shop");
const Item = z.object({ item: z.string(), price: z.number() });

shop.action("set-title", { payload: z.object({ title: z.string() }), output: z.string() }, async ({ invocation_id }, { title }) => {
  await using browser = await new Shoal().browsers.create({ invocation_id });
  console.log("opened a browser");
  return await evaluate(browser.cdp_ws_url, "document.title = " + JSON.stringify(title));
});
shop.action("price", { payload: z.object({ item: z.string() }), output: Item }, (_context, { item }) => ({ item, price: 7 }));
shop.action("fail", async ({ invocation_id }) => {
  await new Shoal().browsers.create({ invocation_id, timeout_seconds: 3600 });
  console.error("about to fail");
  throw new Error("sold out");
});
shop.action("keep-browser", async ({ invocation_id }) => {
  const { session_id } = await new Shoal().browsers.create({ invocation_id, timeout_seconds: 3600 });
  return session_id;
});
shop.action("show-key", () => process.env.SHOAL_API_KEY);
`;
const page = `
export async function evaluate(address: string, expression: string): Promise<unknown> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("The browser cannot be reached."));
  });
  const send = (id: number, method: string, params: object, sessionId?: string) =>
    new Promise<any>((resolve, reject) => {
      socket.addEventListener("message", ({ data }) => {
        const reply = JSON.parse(data);
        if (reply.id === id) reply.error ? reject(new Error(reply.error.message)) : resolve(reply.result);
      });
      socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  const { targetId } = await send(1, "Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send(2, "Target.attachToTarget", { targetId, flatten: true });
  const { result } = await send(3, "Runtime.evaluate", { expression }, sessionId);
  socket.close();
  return result.value;
}
`;

const [{ placement, skip, title } = { placement: "sandbox", skip: true, title: "" }] = placements;

describe.skipIf(skip)(`an app of @shoal/client/app in the placement ${title}`, () => {
  const test = useService(() => ["--placement", placement]);
  const folder = mkdtempSync(join(tmpdir(), "shoal-app-test-"));
  let kernel: Kernel;
  let files: Readonly<Record<string, string>>;
  beforeAll(async () => {
    kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
    files = {
      "package.json": JSON.stringify({ name: "shop", private: true, type: "module" }),
      "index.ts": source,
      "page.ts": page,
      ...(await vendored(["@shoal/client", "@shoal/client/app", "zod"])),
    };
    writeApp(folder, files);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const shoal = (...args: string[]) =>
    run(process.execPath, [command, ...args], {
      cwd: folder,
      env: {
        HOME: folder,
        PATH: process.env.PATH ?? "",
        SHOAL_CONFIG_DIR: join(folder, ".config"),
        SHOAL_KEYCHAIN: "0",
        SHOAL_API_KEY: test.service.apiKey,
        SHOAL_BASE_URL: test.service.baseUrl,
        NO_COLOR: "1",
      },
    });
  const below = () => test.processes();

  it("is deployed by the hosted service's SDK, which sees its schemas, and runs while the caller waits", async () => {
    const archive = await zipOf(Object.entries(files).map(([name, content]) => ({ name, content })));
    const { id } = await kernel.deployments.create({
      file: new File([archive], "app.zip"),
      entrypoint_rel_path: "index.ts",
    });
    const seen: string[] = [];
    for await (const event of await kernel.deployments.follow(id)) {
      if (event.event !== "deployment_state") seen.push(event.event);
      else if (/running|failed/.test(event.deployment.status)) {
        seen.push([event.deployment.status, event.deployment.status_reason ?? ""].join(" ").trim());
        break;
      }
    }
    expect(seen.slice(-2)).toEqual(["app_version_summary", "running"]);
    const apps = (await kernel.apps.list({ app_name: "shop" })).getPaginatedItems();
    expect(apps).toMatchObject([{ app_name: "shop", version: "latest", deployment: id }]);
    expect(apps[0]?.actions).toContainEqual({
      name: "price",
      input_schema: expect.objectContaining({ type: "object", required: ["item"] }) as unknown,
      output_schema: expect.objectContaining({ type: "object", required: ["item", "price"] }) as unknown,
    });
    const invocation = await kernel.invocations.create({
      app_name: "shop",
      action_name: "set-title",
      version: "latest",
      payload: JSON.stringify({ title: "hello" }),
    });
    expect(invocation).toMatchObject({ status: "succeeded", output: '"hello"' });
  });

  it("logs and returns its output to an asynchronous caller", async () => {
    const { id, status } = await kernel.invocations.create({
      app_name: "shop",
      action_name: "set-title",
      version: "latest",
      payload: JSON.stringify({ title: "later" }),
      async: true,
    });
    expect(status).toBe("queued");
    const events = await allOf(await kernel.invocations.follow(id));
    expect(events.flatMap((event) => (event.event === "log" ? [event.message] : []))).toEqual(["opened a browser"]);
    expect(events.at(-1)).toMatchObject({
      event: "invocation_state",
      invocation: { id, status: "succeeded", output: '"later"' },
    });
  });

  it("refuses a payload that does not match its schema", async () => {
    const { status, status_reason } = await kernel.invocations.create({
      app_name: "shop",
      action_name: "price",
      version: "latest",
      payload: "{}",
    });
    expect([status, status_reason]).toEqual(["failed", expect.stringContaining("item")]);
  });

  it("loses its browsers when it fails, and keeps them when it succeeds", async () => {
    const invoke = (action_name: string) =>
      kernel.invocations.create({ app_name: "shop", action_name, version: "latest" });
    const failed = await invoke("fail");
    expect(failed).toMatchObject({ status: "failed", status_reason: expect.stringContaining("sold out") as unknown });
    await expect.poll(async () => (await kernel.invocations.listBrowsers(failed.id)).browsers).toEqual([]);
    const { id, output = "" } = await invoke("keep-browser");
    expect((await kernel.invocations.listBrowsers(id)).browsers).toMatchObject([
      { session_id: JSON.parse(output) as unknown },
    ]);
    await kernel.invocations.deleteBrowsers(id);
    expect((await kernel.invocations.listBrowsers(id)).browsers).toEqual([]);
  });

  it("is deployed, invoked and deleted by the command, and its processes, folders and key are removed", async () => {
    const { stdout: deployed, stderr } = await shoal("deploy", "index.ts", "--version", "v2");
    expect(stderr, deployed).toMatch(/Deployment \w+ is running\./);
    const { stdout } = await shoal("invoke", "shop", "set-title", "--version", "v2", "-p", '{"title":"by hand"}');
    expect(stdout).toContain("opened a browser");
    expect(stdout).toContain("by hand");
    await expect(shoal("invoke", "shop", "fail", "--version", "v2")).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sold out") as unknown,
    });

    const { output = "" } = await kernel.invocations.create({
      app_name: "shop",
      action_name: "show-key",
      version: "v2",
    });
    const inApp = new Shoal({ baseUrl: test.service.baseUrl, apiKey: JSON.parse(output) as string });
    expect((await inApp.browsers.list()).items).toEqual([]);
    for (const { id } of (await kernel.deployments.list()).getPaginatedItems())
      await shoal("deployments", "delete", id, "--yes");
    expect((await kernel.apps.list()).getPaginatedItems()).toEqual([]);
    await eventually(
      "its key is deleted",
      async () => (await inApp.browsers.list().catch(() => undefined)) === undefined,
    );
    await eventually("no process is left", () => below().length === 0);
    expect((await test.shoal.browsers.list()).items).toEqual([]);
    await eventually("no folder is left", () => test.dataDirs.flatMap(sessionFolders).length === 0);
    await expect
      .poll(() => test.dataDirs.flatMap((folder) => readdirSync(join(folder, "apps/artifacts"))))
      .not.toContainEqual(expect.stringMatching(/^\./));
  });
});
