import type { Deployment, Invocation } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";
import { zipOf } from "../../testing/zip.ts";

/** Registers as the framework of `@shoal/client/app` does, without a dependency. */
const source = `
  const apps = (globalThis[Symbol.for("shoal.apps.v1")] ??= new Map());
  const actions = new Map();
  apps.set("shop", { name: "shop", actions });
  const action = (name, handler) => actions.set(name, { handler, payload: undefined, output: undefined });
  console.log("imported");
  async function openBrowser(invocation_id) {
    const answer = await fetch(process.env.KERNEL_BASE_URL + "/browsers", {
      method: "POST",
      headers: { authorization: "Bearer " + process.env.KERNEL_API_KEY, "content-type": "application/json" },
      body: JSON.stringify({ invocation_id, timeout_seconds: 600 }),
    });
    return answer.json();
  }
  action("echo", (_context, payload) => payload);
  action("browse", async ({ invocation_id }) => {
    console.log("opening a browser");
    return openBrowser(invocation_id);
  });
  action("hang", async ({ invocation_id }) => {
    const { session_id } = await openBrowser(invocation_id);
    console.log(session_id);
    await new Promise(() => setInterval(() => {}, 1000));
  });
`;

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ placement: "sandbox" });
  const form = new FormData();
  const archive = await zipOf({ "package.json": JSON.stringify({ type: "module" }), "index.ts": source });
  form.set("file", new Blob([new Uint8Array(archive)]), "app.zip");
  form.set("entrypoint_rel_path", "index.ts");
  const { body, status } = await server.request("POST", "/deployments", { body: form });
  expect(status, JSON.stringify(body)).toBe(201);
  const read = async (): Promise<Deployment> =>
    (await server.request("GET", `/deployments/${(body as Deployment).id}`)).body as Deployment;
  await eventuallyPasses(async () => {
    expect((await read()).status).toMatch(/running|failed/);
  });
  expect(await read()).toMatchObject({ status: "running" });
});
afterAll(() => server.close());

const invoke = (action_name: string, more: object = {}): Promise<TestReply> =>
  server.request("POST", "/invocations", { body: { app_name: "shop", action_name, ...more } });

async function lines(id: string): Promise<readonly string[]> {
  const response = await fetch(`${server.baseUrl}/invocations/${id}/events`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  return [...(await response.text()).matchAll(/"event":"log","message":"([^"]*)"/g)].map(([, text = ""]) => text);
}

it("runs an action in a box, with the key of its deployment, and opens a browser", async () => {
  const { body } = await invoke("browse");
  const { id, output = "", status, status_reason } = body as Invocation;
  expect(status, status_reason).toBe("succeeded");
  const browser = JSON.parse(output) as {
    readonly session_id: string;
    readonly cdp_ws_url: string;
    readonly browser_live_view_url: string;
  };
  expect(browser.browser_live_view_url).toContain(`${server.baseUrl}/browser/live/`);
  expect((await fetch(browser.browser_live_view_url)).status).toBe(200);
  expect(await lines(id)).toEqual(["imported", "opening a browser"]);
  expect((await server.request("GET", `/invocations/${id}/browsers`)).body).toMatchObject({
    browsers: [{ session_id: browser.session_id }],
  });
  expect((await server.request("DELETE", `/invocations/${id}/browsers`)).status).toBe(204);
  expect((await server.request("GET", `/browsers/${browser.session_id}`)).status).toBe(404);
});

it("uses the program that waits, and logs its import once", async () => {
  const first = (await invoke("echo", { payload: "1" })).body as Invocation;
  const second = (await invoke("echo", { payload: JSON.stringify("x".repeat(1_000_000)) })).body as Invocation;
  expect([first.output, second.output?.length]).toEqual(["1", 1_000_002]);
  expect(await lines(first.id)).toEqual(["imported"]);
  expect(await lines(second.id)).toEqual(["imported"]);
});

it("ends the program and the browser of a cancelled invocation", async () => {
  const { id } = (await invoke("hang", { async: true })).body as Invocation;
  const browsers = async () =>
    ((await server.request("GET", `/invocations/${id}/browsers`)).body as { browsers: readonly unknown[] }).browsers;
  await expect.poll(browsers).toHaveLength(1);
  const { body } = await server.request("PATCH", `/invocations/${id}`, { body: { status: "failed" } });
  expect(body).toMatchObject({ status: "failed", status_reason: "The invocation was cancelled." });
  await expect.poll(browsers).toEqual([]);
});
