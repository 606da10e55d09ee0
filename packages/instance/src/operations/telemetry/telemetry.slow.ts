import { TelemetryEnvelope } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import { describeChromium } from "../../testing/chromium.ts";
import { killBrowser } from "../../testing/processes.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { followTelemetry } from "./testing/follow.ts";

let site: Server;
let port: number;
const origin = () => `http://localhost:${String(port)}`;

const pages: Readonly<Record<string, () => string>> = {
  "/main":
    () => `<title>main</title><body style="height:5000px"><h1>Main</h1><input id=user><input id=pass type=password><button id=go>Go <b>now</b></button>
    <script>
      console.log("first", { a: 1, b: "x" }, [1, 2], 3n, undefined);
      console.error("bad", new Error("why"));
      new Worker("/worker.js");
      fetch("/json").then((answer) => answer.text());
      fetch("/large.txt").then((answer) => answer.text());
      fetch("/picture").then((answer) => answer.arrayBuffer());
      fetch("/redirect", { method: "POST", body: "sent" });
      fetch("http://localhost:1/closed").catch(() => {});
      setTimeout(() => { throw new TypeError("uncaught"); });
    </script><iframe src="/to-frame"></iframe>`,
  "/frame": () => `<title>frame</title><script>console.log("in the frame")</script>`,
  "/popup": () => `<title>popup</title><script>console.log("first of the popup")</script>`,
  "/opener": () => `<title>opener</title><script>onclick = () => open("/popup", "_blank")</script>`,
  "/many": () => `<title>many</title><script>for (let i = 0; i < 3000; i++) console.log("line", i)</script>`,
};

function serve(url: string, response: ServerResponse): void {
  const page = pages[url];
  if (page !== undefined) response.writeHead(200, { "content-type": "text/html" }).end(page());
  else if (url === "/worker.js")
    response
      .writeHead(200, { "content-type": "text/javascript" })
      .end(`console.log("in the worker"); fetch("/to-worker")`);
  else if (url === "/json")
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text: "ü".repeat(10_000) }));
  else if (url === "/large.txt") response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(5_000_000));
  else if (url === "/picture") response.writeHead(200, { "content-type": "image/png" }).end("no text");
  else if (url === "/redirect") response.writeHead(303, { location: "/json" }).end();
  else if (url === "/to-frame") response.writeHead(302, { location: "/to-frame-2" }).end("moved");
  else if (url === "/to-frame-2")
    response.writeHead(302, { location: `http://127.0.0.1:${String(port)}/frame` }).end("moved");
  else if (url === "/to-worker") response.writeHead(307, { location: "/from-worker" }).end();
  else if (url === "/download")
    response
      .writeHead(200, {
        "content-disposition": "attachment; filename=report.bin",
        "content-type": "application/octet-stream",
      })
      .end(Buffer.alloc(300_000, 7));
  else response.writeHead(404, { "content-type": "text/plain" }).end("nothing");
}

beforeAll(async () => {
  site = createServer((request, response) => {
    request.resume();
    serve(request.url ?? "/", response);
  });
  await new Promise<void>((resolve) => site.listen(0, resolve));
  port = (site.address() as AddressInfo).port;
});
afterAll(() => {
  site.close();
  site.closeAllConnections();
});

async function select(instance: RunningInstance, ...categories: string[]): Promise<void> {
  const { status } = await instance.call("POST", "/_instance/telemetry", JSON.stringify({ categories }));
  expect(status).toBe(200);
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}

async function drive(instance: RunningInstance) {
  const cdp = cdpClient(await instance.connect());
  const { result } = (await cdp.send("Target.getTargets")) as {
    result: { targetInfos: { targetId: string; type: string }[] };
  };
  const targetId = result.targetInfos.find(({ type }) => type === "page")?.targetId;
  const { result: attached } = (await cdp.send("Target.attachToTarget", { targetId, flatten: true })) as {
    result: { sessionId: string };
  };
  return {
    send: (method: string, params?: object) => cdp.send(method, params, attached.sessionId),
    browser: cdp,
    open: (path: string) => cdp.send("Page.navigate", { url: `${origin()}${path}` }, attached.sessionId),
  };
}

describeChromium("telemetry", (chromium) => {
  it("records a page, its frames and its workers in the contract's shapes, without gaps", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["console", "network", "bodies", "page"], start_url: `${origin()}/main` });
    const told = followTelemetry(instance);
    const first = await told.wait("console_log", { text: "first" });
    expect(first.data).toMatchObject({
      args: ["first", '{a: 1, b: "x"}', "[1, 2]", "3n", "undefined"],
      level: "log",
      target_type: "page",
      url: `${origin()}/main`,
      nav_seq: 1,
    });
    expect((await told.wait("console_error", { text: "bad" })).data).toMatchObject({
      level: "error",
      args: ["bad", expect.stringContaining("Error: why") as unknown],
    });
    expect((await told.wait("console_error", { text: /uncaught/ })).data).toMatchObject({
      text: expect.stringMatching(/^Uncaught TypeError: uncaught/) as unknown,
      line: expect.any(Number) as unknown,
      source_url: `${origin()}/main`,
    });
    expect((await told.wait("console_log", { text: "in the worker" })).data).toMatchObject({ target_type: "other" });
    expect((await told.wait("console_log", { text: "in the frame" })).data?.frame_id).toBeTruthy();

    const main = await told.wait("network_request", { url: `${origin()}/main` });
    expect(main.data).toMatchObject({ method: "GET", resource_type: "Document", document_url: `${origin()}/main` });
    expect((await told.wait("network_response", { url: `${origin()}/main` })).data).toMatchObject({
      status: 200,
      mime_type: "text/html",
      body: expect.stringContaining("<title>main") as unknown,
      request_id: main.data?.request_id,
    });
    const json = await told.wait("network_response", { url: `${origin()}/json`, method: "GET" });
    expect([
      Buffer.byteLength(String(json.data?.body)) <= 8192,
      String(json.data?.body).endsWith("ü"),
      json.truncated,
    ]).toEqual([true, true, true]);
    const large = await told.wait("network_response", { url: `${origin()}/large.txt` });
    expect([large.data?.body, large.truncated]).toEqual([undefined, true]);
    expect((await told.wait("network_response", { url: `${origin()}/picture` })).data).not.toHaveProperty("body");
    expect((await told.wait("network_request", { url: `${origin()}/redirect` })).data).toMatchObject({
      method: "POST",
      post_data: "sent",
    });
    await told.wait("network_request", {
      url: `${origin()}/json`,
      is_redirect: true,
      redirect_url: `${origin()}/redirect`,
    });
    const hop = await told.wait("network_response", { url: `${origin()}/redirect` });
    expect(hop.data).toMatchObject({ status: 303, method: "POST", is_redirect: true, headers: { location: "/json" } });
    expect(hop.data).not.toHaveProperty("body");
    for (const path of ["/to-frame", "/to-frame-2"])
      await told.wait("network_response", { url: `${origin()}${path}`, status: 302, resource_type: "Document" });
    await told.wait("network_response", { url: `${origin()}/to-worker`, status: 307, is_redirect: true });
    await told.wait("network_loading_failed", { url: "http://localhost:1/closed" });
    await told.wait("network_response", { url: `${origin()}/from-worker`, status: 404 });
    await told.wait("network_response", { url: `http://127.0.0.1:${String(port)}/frame`, status: 200 });
    await told.wait("network_idle");

    expect(
      (await told.wait("page_navigation", { url: `http://127.0.0.1:${String(port)}/frame` })).data?.parent_frame_id,
    ).toBeTruthy();
    await told.wait("page_dom_content_loaded");
    await told.wait("page_load");
    await told.wait("page_lcp");
    await told.wait("page_layout_settled");
    await told.wait("page_navigation_settled");
    told.envelopes.forEach((envelope, index) => {
      expect(envelope.seq).toBe(index + 1);
      expect(z.safeParse(TelemetryEnvelope, envelope), JSON.stringify(envelope)).toMatchObject({ success: true });
    });
  });

  it("records tabs and popups from their first script on, and leaves none paused", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["console", "page"] });
    const told = followTelemetry(instance);
    const page = await drive(instance);
    await page.open("/opener");
    await told.wait("page_load");
    for (const type of ["mousePressed", "mouseReleased"])
      await page.send("Input.dispatchMouseEvent", { type, x: 10, y: 10, button: "left", clickCount: 1 });
    expect((await told.wait("console_log", { text: "first of the popup" })).data?.url).toBe(`${origin()}/popup`);
    expect((await told.wait("page_tab_opened")).data?.opener_id).toBeTruthy();
    await page.browser.send("Target.createTarget", { url: `${origin()}/popup` });
    await eventuallyPasses(() => {
      expect(told.of("console_log")).toHaveLength(2);
    });
    // Requests of a page that is already loading are recorded too.
    await page.open("/many");
    await eventuallyPasses(() => {
      expect(told.of("console_log").filter(({ data }) => data?.text === "line")).toHaveLength(3000);
    });
  });

  it("records the crash of a page, of which the browser goes on", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const told = followTelemetry(instance);
    const page = await drive(instance);
    await page.open("/frame");
    await told.wait("page_load");
    page.send("Page.crash").catch(() => undefined);
    const { data } = await told.wait("page_crashed");
    expect(data).toEqual({ target_id: expect.any(String) as string, target_type: "page", url: `${origin()}/frame` });
    const { text } = await instance.call("POST", "/playwright/execute", JSON.stringify({ code: "return 1" }));
    expect(JSON.parse(text)).toMatchObject({ success: true });
  });

  it("changes categories while it runs", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({});
    const page = await drive(instance);
    const told = followTelemetry(instance);
    const say = (text: string) => page.send("Runtime.evaluate", { expression: `console.log(${JSON.stringify(text)})` });
    await say("before");
    await select(instance, "console");
    await say("on");
    await told.wait("console_log", { text: "on" });
    await select(instance, "network", "page");
    await say("off");
    await page.open("/frame");
    await told.wait("network_response", { url: `${origin()}/frame` });
    await select(instance);
    await say("all off");
    await select(instance, "console", "interaction");
    await say("on again");
    await told.wait("console_log", { text: "on again" });
    expect(told.of("console_log").map(({ data }) => data?.text)).toEqual(["on", "on again"]);
    expect((await instance.call("POST", "/_instance/telemetry", '{"categories":["nothing"]}')).status).toBe(400);
  });

  it("records clicks, keys and scrolling, but no password input", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["interaction", "page"] });
    const told = followTelemetry(instance);
    const page = await drive(instance);
    await page.open("/main");
    await told.wait("page_load");
    const find = async (selector: string) => {
      const { result } = (await page.send("Runtime.evaluate", {
        expression: `(() => { const { x, y, width, height } = document.querySelector("${selector}").getBoundingClientRect(); return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) } })()`,
        returnByValue: true,
      })) as { result: { result: { value: { x: number; y: number } } } };
      return result.result.value;
    };
    const click = async (selector: string) => {
      const at = await find(selector);
      for (const type of ["mousePressed", "mouseReleased"])
        await page.send("Input.dispatchMouseEvent", { type, ...at, button: "left", clickCount: 1 });
      return at;
    };
    const key = async (name: string) => {
      await page.send("Input.dispatchKeyEvent", { type: "keyDown", key: name, text: name });
      await page.send("Input.dispatchKeyEvent", { type: "keyUp", key: name });
    };
    const at = await click("#go");
    expect((await told.wait("interaction_click", { selector: /go/ })).data).toMatchObject({
      ...at,
      text: expect.stringMatching(/now$/) as unknown,
      frame_id: expect.any(String) as unknown,
    });
    await click("#user");
    await key("u");
    expect((await told.wait("interaction_key", { key: "u" })).data).toMatchObject({ selector: "#user", tag: "INPUT" });
    await click("#pass");
    await key("s");
    await page.send("Input.dispatchMouseEvent", { type: "mouseWheel", x: 5, y: 5, deltaX: 0, deltaY: 400 });
    const scrolled = await told.wait("interaction_scroll_settled");
    expect(scrolled.data).toMatchObject({ from_y: 0, to_y: expect.any(Number) as unknown });
    expect(told.of("interaction_key")).toHaveLength(1);
    expect(told.of("interaction_click").at(-1)?.data).not.toHaveProperty("text");
    // The script is invisible to pages.
    expect(
      await page.send("Runtime.evaluate", { expression: "typeof shoalTelemetry + typeof shoalTelemetryRuns" }),
    ).toMatchObject({
      result: { result: { value: "undefinedundefined" } },
    });
  });

  it("records operations, clients and screenshots", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["control", "platform", "connection", "screenshot", "-Target.closeTarget"] });
    const told = followTelemetry(instance);
    await instance.call("GET", "/fs/list_files?path=/home/shoal", undefined, { "x-request-id": "r1" });
    expect((await told.wait("platform_api_call")).data).toMatchObject({
      operation_id: "browsers.fs.listFiles",
      request_id: "r1",
      status: 200,
    });
    await instance.call("POST", "/observe", "{}", { "x-request-id": "r2" });
    expect((await told.wait("api_call")).data).toMatchObject({ operation_id: "browsers.observe", request_id: "r2" });
    expect(told.of("api_call")).toHaveLength(1);
    const socket = await instance.connect();
    const client = cdpClient(socket);
    await client.send("Browser.getVersion");
    const { connection_id } = (await told.wait("cdp_connect")).data ?? {};
    const { result } = await client.send("Target.createTarget", { url: "about:blank#my-secret" });
    const command = (await told.wait("cdp_command")).data;
    expect(command).toEqual({
      method: "Target.createTarget",
      connection_id,
      command_id: expect.any(Number) as unknown,
      url_scheme: "about",
    });
    await client.send("Target.closeTarget", result as object);
    socket.close();
    expect((await told.wait("cdp_disconnect")).data).toMatchObject({
      connection_id,
      message_count: 6,
      reason: "client_close",
      telemetry_dropped: 0,
      telemetry_excluded: 1,
    });
    expect(told.of("cdp_command")).toHaveLength(1);
    const stays = await instance.connect();
    const { png } = (await told.wait("monitor_screenshot")).data ?? {};
    expect(Buffer.from(String(png), "base64").subarray(1, 4).toString()).toBe("PNG");
    await instance.call("POST", "/_instance/stop");
    await told.ended;
    expect(told.of("cdp_disconnect").at(-1)?.data).toMatchObject({ reason: "context_cancelled" });
    stays.terminate();
  });

  it("records a finished download when its file is readable", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const told = followTelemetry(instance);
    const page = await drive(instance);
    await page.open("/download");
    const { data } = await told.wait("download_finished");
    expect(data).toMatchObject({
      state: "completed",
      path: "/home/shoal/Downloads/report.bin",
      file_name: "report.bin",
      size_bytes: 300_000,
      url: `${origin()}/download`,
      sha256: createHash("sha256").update(Buffer.alloc(300_000, 7)).digest("hex"),
    });
    expect((await instance.call("GET", "/fs/read_file?path=/home/shoal/Downloads/report.bin")).text).toHaveLength(
      300_000,
    );
  });

  it("continues with the browser that follows a crash, and reports the gap", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["console", "system"] });
    const told = followTelemetry(instance);
    killBrowser(instance.config.session_dir);
    expect((await told.wait("service_crashed")).data).toMatchObject({ service_name: "chromium", phase: "running" });
    expect((await told.wait("monitor_disconnected")).data).toEqual({ reason: "chrome_restarted" });
    expect((await told.wait("monitor_reconnected")).data?.reconnect_duration_ms).toBeGreaterThan(0);
    const page = await drive(instance);
    await page.send("Runtime.evaluate", { expression: "console.log('after')" });
    await told.wait("console_log", { text: "after" });
    killBrowser(instance.config.session_dir);
    await told.wait("monitor_reconnect_failed");
    await told.wait("service_crashed", { phase: "gave_up" });
    await told.ended;
  });

  it("does not disturb requests through the browser, and records no tab for them", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["console", "network", "page", "interaction"] });
    const told = followTelemetry(instance);
    const sent = await instance.call("POST", "/curl", JSON.stringify({ url: `${origin()}/frame` }));
    expect(JSON.parse(sent.text)).toMatchObject({ status: 200, body: pages["/frame"]?.() });
    const page = await drive(instance);
    await page.open("/frame");
    await told.wait("page_load");
    expect(told.of("page_tab_opened")).toEqual([]);
    expect(told.of("page_navigation")).toHaveLength(1);
  });

  it("streams from now on, from the oldest event, or from a reader's position", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["platform"] });
    for (let i = 0; i < 3; i++) await instance.call("GET", "/fs/list_files?path=/home/shoal");
    await followTelemetry(instance).wait("platform_api_call");
    const all = instance.call("GET", "/telemetry/stream?replay=all");
    const rest = instance.call("GET", "/telemetry/stream?replay=all", undefined, { "last-event-id": "2" });
    const now = instance.call("GET", "/telemetry/stream");
    expect((await instance.call("GET", "/telemetry/stream", undefined, { "last-event-id": "900" })).status).toBe(400);
    await instance.call("GET", "/fs/list_files?path=/home/shoal");
    await instance.call("POST", "/_instance/stop");
    const ids = async (answer: typeof all) =>
      [...(await answer).text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const [every, after, late] = await Promise.all([ids(all), ids(rest), ids(now)]);
    expect(every.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(after).toEqual(every.slice(2));
    expect(every.slice(-late.length)).toEqual(late);
    expect(late.length).toBeGreaterThan(0);
  });

  it("records the egress gateway's rejections, which the browser only reports as failures", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["network"] });
    const told = followTelemetry(instance);
    const page = await drive(instance);
    const host = `localhost:${String(await closedPort())}`;
    await page.send("Runtime.evaluate", {
      expression: `fetch("https://${host}/tunnel?x", { mode: "no-cors" }).catch(() => {}); fetch("http://${host}/plain", { mode: "no-cors" }).catch(() => {})`,
    });
    const tunnel = await told.wait("proxy_error", { url: `https://${host}/tunnel?x` });
    expect(tunnel.data).toMatchObject({
      code: "upstream_connect_failed",
      status: 502,
      method: "GET",
      resource_type: "Fetch",
      request_id: expect.stringMatching(/./) as string,
    });
    await told.wait("network_loading_failed", { request_id: tunnel.data?.request_id });
    const plain = await told.wait("proxy_error", { url: `http://${host}/plain` });
    expect(plain.data).toMatchObject({ code: "upstream_connect_failed", status: 502 });
    expect(told.of("proxy_error").filter(({ data }) => String(data?.url).includes(host))).toHaveLength(2);
    for (const { event } of told.envelopes)
      expect(z.safeParse(TelemetryEnvelope, { seq: 1, event }).success).toBe(true);
  });
});
