import type { Browser } from "@shoal/schemas";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createSecrets } from "../../storage/secrets.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { createLiveViewAddresses } from "./live-view-address.ts";
import { liveViewTarget } from "./live-view-socket.ts";

const hourMs = 60 * 60 * 1000;
const running = { id: "session1", ended_at: null, options: {} } as const;
const reader = (baseUrl: string) => ({ baseUrl, keyId: "key1" });
const addresses = createLiveViewAddresses(createSecrets("a secret of at least 32 characters"), 24);
const secretKey = "the secret of the server under test";
const tokenOf = (url = "") => new URL(url).pathname.split("/").at(-1) ?? "";

describe("addresses of live views", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("open their session in their mode until they expire", () => {
    vi.useFakeTimers({ now: 1_800_000_001_000 });
    const { browser_live_view_url: control, browser_live_view_read_only_url: watch } = addresses.of(
      running,
      reader("https://shoal.example/api"),
    );
    expect(control).toMatch(/^https:\/\/shoal\.example\/api\/browser\/live\/[\w.-]+$/);
    expect([control, watch].map((url) => addresses.open(tokenOf(url)))).toMatchObject([
      { sessionId: "session1", keyId: "key1", mode: "control" },
      { sessionId: "session1", mode: "watch" },
    ]);
    vi.setSystemTime(Date.now() + 10_000);
    expect(addresses.of(running, reader("https://shoal.example/api")).browser_live_view_url).toBe(control);
    const { expiresAtMs } = addresses.open(tokenOf(control));
    expect(expiresAtMs - Date.now()).toBeGreaterThan(23.9 * hourMs);
    vi.setSystemTime(expiresAtMs - 1);
    addresses.open(tokenOf(control));
    vi.setSystemTime(expiresAtMs);
    expect(() => addresses.open(tokenOf(control))).toThrow("has expired");
  });

  it("are missing after the end of a session, and hide the toolbars in kiosk mode", () => {
    expect(addresses.of({ ...running, ended_at: "2026-01-01T00:00:00.000Z" }, reader("http://x"))).toEqual({});
    expect(
      addresses.of({ ...running, options: { kiosk_mode: true } }, reader("http://x")).browser_live_view_url,
    ).toMatch(/\?kiosk=true$/);
  });

  it("are for a login if a sign-in page gets them, in kiosk mode and until the given time", () => {
    vi.useFakeTimers({ now: 1_800_000_001_000 });
    const url = addresses.ofLogin("session1", Date.now() + 1500, reader("http://x"));
    expect(url).toMatch(/\?kiosk=true$/);
    const { expiresAtMs, ...access } = addresses.open(tokenOf(url));
    expect(access).toEqual({ sessionId: "session1", keyId: "key1", mode: "control", isForLogin: true });
    expect(expiresAtMs - Date.now()).toBeLessThanOrEqual(2500);
    const { browser_live_view_url: own } = addresses.of(running, reader("http://x"));
    expect(addresses.open(tokenOf(own)).isForLogin).toBe(false);
  });

  it("cannot be forged", () => {
    const token = tokenOf(addresses.of(running, reader("http://x")).browser_live_view_url);
    fc.assert(
      fc.property(
        fc.nat(token.length - 1),
        fc.constantFrom("a", "b", "c", "w", "0", "9", ".", "-", "_", "A"),
        (place, letter) => {
          const other = token.slice(0, place) + letter + token.slice(place + 1);
          if (other !== token) expect(() => addresses.open(other)).toThrow("This live view URL is invalid");
        },
      ),
    );
    expect(() => createLiveViewAddresses(createSecrets("another secret of 32 characters!!"), 24).open(token)).toThrow(
      "URL is invalid",
    );
  });

  it("enforce their mode, regardless of the query", () => {
    const { browser_live_view_url: control = "", browser_live_view_read_only_url: watch = "" } = addresses.of(
      running,
      reader("http://x"),
    );
    const path = (url: string, query: string) => liveViewTarget(new URL(`${url}/socket?${query}`), addresses)?.path;
    expect(path(control, "viewer=a-1")).toBe("/live-view?mode=control&viewer=a-1");
    expect(path(control, "readOnly=true&viewer=a%26mode=control%0d%0aX: y")).toBe(
      "/live-view?mode=view&viewer=amodecontrolXy",
    );
    expect(path(watch, "mode=control&readOnly=false")).toBe("/live-view?mode=view&viewer=");
    expect(liveViewTarget(new URL("http://x/browsers/b/cdp"), addresses)).toBeUndefined();
  });
});

describe("the page", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      secret_key: secretKey,
      live_view_frame_ancestors: ["self", "https://app.example", "*.example.org"],
    });
  });
  afterAll(() => server.close());

  it("is disconnected when its URL expires", async () => {
    const { session_id: id, browser_live_view_url: usual = "" } = (
      await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })
    ).body as Browser;
    const opened = async (address: string): Promise<WebSocket> => {
      const socket = new WebSocket(`${address.replace("http", "ws")}/socket`);
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = reject;
      });
      return socket;
    };
    const first = await opened(usual);
    // The clock stops until the socket is open: the URL cannot expire before.
    const nowMs = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: nowMs });
    try {
      const endSeconds = Math.ceil(nowMs / 1000) + 1;
      const text = `${id}.${tokenOf(usual).split(".")[1] ?? ""}.c${endSeconds.toString(36)}`;
      const url = `${server.baseUrl}/browser/live/${text}.${createSecrets(secretKey).sign("live view", text)}`;
      const socket = await opened(url);
      await new Promise((resolve) => {
        socket.onclose = resolve;
      });
      expect(first.readyState).toBe(WebSocket.OPEN);
      first.close();
      vi.setSystemTime(endSeconds * 1000);
      const refused = await fetch(url);
      expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining("has expired")]);
    } finally {
      vi.useRealTimers();
    }
    expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
  });

  it("is one document with a strict policy, and its URL is redacted in the log", async () => {
    const session = (await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })).body as Browser;
    const url = session.browser_live_view_url ?? "";
    const page = await fetch(url);
    const html = await page.text();
    const policy = page.headers.get("content-security-policy") ?? "";
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(policy).toContain("default-src 'none'; script-src 'sha256-");
    expect(policy).toContain("frame-ancestors 'self' https://app.example *.example.org");
    expect(html).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/);
    expect(await (await fetch(`${url}/state`)).json()).toEqual({ state: "running" });
    const refused = await fetch(`${url}x`);
    expect([refused.status, refused.headers.get("content-security-policy")]).toEqual([
      401,
      expect.stringContaining("frame-ancestors 'self'"),
    ]);
    expect((await fetch(`${url}x/state`)).status).toBe(401);
    expect((await server.request("DELETE", `/browsers/${session.session_id}`)).status).toBe(204);
    expect(await (await fetch(`${url}/state`)).json()).toEqual({ state: "ended", ended_reason: "deleted" });
    const ended = await fetch(url);
    expect([ended.status, await ended.text()]).toEqual([404, expect.stringContaining("It was deleted.")]);
    expect(server.log()).toContain("/browser/live/***");
    expect(server.log()).not.toContain(tokenOf(url).split(".").at(-1));
  });
});
