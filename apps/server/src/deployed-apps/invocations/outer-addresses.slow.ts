import type { Deployment, Invocation } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { once } from "node:events";
import { expect, it } from "vitest";
import { startTestServer } from "../../testing/test-server.ts";
import { zipOf } from "../../testing/zip.ts";

const source = `
  const apps = (globalThis[Symbol.for("shoal.apps.v1")] ??= new Map());
  const actions = new Map();
  apps.set("shop", { name: "shop", actions });
  const headers = { authorization: "Bearer " + process.env.SHOAL_API_KEY, "content-type": "application/json" };
  const versionOf = (url) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onerror = () => reject(new Error("refused"));
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: "Browser.getVersion" }));
    socket.onmessage = ({ data }) => { resolve(JSON.parse(data).result.product); socket.close(); };
  });
  actions.set("browse", { payload: undefined, output: undefined, handler: async () => {
    const answer = await fetch(process.env.SHOAL_BASE_URL + "/browsers", { method: "POST", headers, body: "{}" });
    const browser = await answer.json();
    return { ...browser, seen_inside: await versionOf(browser.cdp_ws_url), public_url: process.env.SHOAL_PUBLIC_URL };
  }});
`;

it.each(["sandbox", "process"] as const)(
  "returns addresses of sessions that work for the app and for the caller of its action (%s)",
  async (placement) => {
    const server = await startTestServer({ placement });
    await using _ = { [Symbol.asyncDispose]: () => server.close() };
    const form = new FormData();
    const archive = await zipOf({ "package.json": JSON.stringify({ type: "module" }), "index.ts": source });
    form.set("file", new Blob([new Uint8Array(archive)]), "app.zip");
    form.set("entrypoint_rel_path", "index.ts");
    const made = await server.request("POST", "/deployments", { body: form });
    await eventuallyPasses(async () => {
      const { body } = await server.request("GET", `/deployments/${(made.body as Deployment).id}`);
      expect((body as Deployment).status).toBe("running");
    });
    const { body } = await server.request("POST", "/invocations", {
      body: { app_name: "shop", action_name: "browse" },
    });
    const { output = "", status, status_reason } = body as Invocation;
    expect(status, status_reason).toBe("succeeded");
    const browser = JSON.parse(output) as Readonly<Record<string, string>>;
    expect(browser.public_url).toBe(server.baseUrl);
    expect(browser.seen_inside).toMatch(/Chrom/);

    const socket = new WebSocket(browser.cdp_ws_url ?? "");
    await once(socket, "open");
    socket.send(JSON.stringify({ id: 1, method: "Browser.getVersion" }));
    const [event] = (await once(socket, "message")) as [MessageEvent<string>];
    expect(JSON.parse(event.data)).toMatchObject({ id: 1, result: { product: browser.seen_inside } });
    socket.close();

    expect(browser.base_url?.startsWith(`${server.baseUrl}/`)).toBe(true);
    const token = new URL(browser.cdp_ws_url ?? "").searchParams.get("jwt") ?? "";
    const files = await fetch(`${browser.base_url ?? ""}/fs/list_files?path=/tmp&jwt=${token}`);
    expect(files.status).toBe(200);
  },
);
