import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { certificate } from "../testing/certificate.ts";
import { startReverseProxy } from "../testing/reverse-proxy.ts";
import { useService } from "../testing/service.ts";

const before = getCACertificates("default");
beforeAll(() => {
  setDefaultCACertificates([...before, certificate]);
});
afterAll(() => {
  setDefaultCACertificates(before);
});

async function openSocket(url: string): Promise<void> {
  const socket = new WebSocket(url, { ca: certificate });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.terminate();
}

describe.each([
  { strips: true, how: "takes the path prefix off" },
  { strips: false, how: "passes the path prefix on, and says it" },
])("behind a proxy with TLS that $how", ({ strips }) => {
  const test = useService(() => ["--trusted-proxies", "127.0.0.1,::1"]);
  const prefix = "/tools/shoal";
  let proxy: Awaited<ReturnType<typeof startReverseProxy>>;
  beforeAll(async () => {
    proxy = await startReverseProxy(test.service.baseUrl, {
      prefix,
      strips,
      headers: { "x-forwarded-prefix": prefix },
    });
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  it("returns addresses that work from outside, and keeps the client's address", async () => {
    const shoal = new Shoal({ baseUrl: proxy.baseUrl, apiKey: test.service.apiKey });
    const browser = await shoal.browsers.create({});
    const socketBase = proxy.baseUrl.replace("https", "wss");
    expect(browser.base_url).toBe(`${proxy.baseUrl}/sessions/${browser.session_id}`);
    expect(browser.cdp_ws_url.startsWith(`${socketBase}/browsers/${browser.session_id}/cdp?jwt=`)).toBe(true);
    expect(browser.webdriver_ws_url.startsWith(`${socketBase}/browsers/${browser.session_id}/webdriver?jwt=`)).toBe(
      true,
    );

    const connection = await chromium.connectOverCDP(browser.cdp_ws_url);
    const [context] = connection.contexts();
    if (context === undefined) throw new Error("The browser has no context.");
    const page = await context.newPage();
    await page.setContent("<title>behind a proxy</title>");
    expect(await page.title()).toBe("behind a proxy");
    await connection.close();
    await openSocket(browser.webdriver_ws_url);

    const token = new URL(browser.cdp_ws_url).searchParams.get("jwt") ?? "";
    const version = (await (await fetch(`${browser.base_url ?? ""}/json/version?jwt=${token}`)).json()) as {
      webSocketDebuggerUrl: string;
    };
    expect(version.webSocketDebuggerUrl.startsWith(socketBase)).toBe(true);
    await openSocket(version.webSocketDebuggerUrl);

    await shoal.browsers.fs.writeFile(browser.session_id, new TextEncoder().encode("through"), {
      path: "/tmp/through.txt",
    });
    expect((await shoal.browsers.get(browser.session_id)).base_url).toBe(browser.base_url);

    const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: proxy.baseUrl });
    expect((await kernel.browsers.retrieve(browser.session_id)).base_url).toBe(browser.base_url);
    const { result } = await kernel.browsers.playwright.execute(browser.session_id, { code: "return 6 * 7" });
    expect(result).toBe(42);
    await kernel.browsers.deleteByID(browser.session_id);

    // The test's own address is also a trusted proxy, so the client is the one in the header.
    await fetch(`${proxy.baseUrl}/profiles`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${test.service.apiKey}`,
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.77",
      },
      body: '{"name":"traced"}',
    });
    const day = 86_400_000;
    const entries = () =>
      shoal.auditLogs.list({
        start: new Date(Date.now() - day).toISOString(),
        end: new Date(Date.now() + day).toISOString(),
        search: "/profiles",
      });
    // Another server may still have to write its entry.
    const entry = await eventually("the request is in the audit log", async () => (await entries()).items[0]);
    expect(entry).toMatchObject({ path: "/profiles", client_ip: "203.0.113.77" });
  });
});

describe("with a public URL", () => {
  const test = useService(() => ["--public-url", "https://shoal.example/api/"]);

  it("answers with and without its prefix, and returns addresses with the configured URL", async () => {
    const headers = { authorization: `Bearer ${test.service.apiKey}` };
    const created = (await (
      await fetch(`${test.service.baseUrl}/api/browsers`, { method: "POST", headers })
    ).json()) as {
      session_id: string;
      base_url: string;
      cdp_ws_url: string;
    };
    expect(created.base_url).toBe(`https://shoal.example/api/sessions/${created.session_id}`);
    const inside = new URL(created.cdp_ws_url);
    expect(inside.origin + inside.pathname).toBe(`wss://shoal.example/api/browsers/${created.session_id}/cdp`);
    const direct = test.service.baseUrl.replace("http", "ws");
    await openSocket(direct + inside.pathname + inside.search);
    await openSocket(direct + inside.pathname.replace("/api", "") + inside.search);
    const replay = (await (
      await fetch(`${test.service.baseUrl}/browsers/${created.session_id}/replays`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: "{}",
      })
    ).json()) as { replay_view_url: string };
    expect(replay.replay_view_url.startsWith(`https://shoal.example/api/browser/replay/${created.session_id}.`)).toBe(
      true,
    );
    const gone = await fetch(`${test.service.baseUrl}/browsers/${created.session_id}`, { method: "DELETE", headers });
    expect(gone.ok).toBe(true);
  });
});
