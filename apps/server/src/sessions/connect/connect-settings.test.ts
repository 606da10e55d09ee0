import { ServiceError } from "@shoal/router";
import { describe, expect, it } from "vitest";
import { readConnectSettings } from "./connect-settings.ts";

const read = (query: string) => readConnectSettings(new URLSearchParams(query));
const launch = (options: unknown) => `launch=${encodeURIComponent(JSON.stringify(options))}`;
const ends = { disconnect_timeout_seconds: 10, connect_timeout_seconds: 60 };

function refusal(query: string): ServiceError {
  try {
    read(query);
  } catch (error) {
    if (ServiceError.isInstance(error)) return error;
    throw error;
  }
  throw new Error(`${query} was accepted.`);
}

it.each<[string, object]>([
  ["", ends],
  ["headless=false&stealth&kiosk_mode=0", { ...ends, headless: false, stealth: true, kiosk_mode: false }],
  ["keep_alive=true&timeout_seconds=600", { timeout_seconds: 600 }],
  ["disconnect_timeout_seconds=0", { ...ends, disconnect_timeout_seconds: 0 }],
  ["viewport=1280x720@30", { ...ends, viewport: { width: 1280, height: 720, refresh_rate: 30 } }],
  [
    "profile=shop&profile_save_changes=true&proxy=office",
    { ...ends, profile: { name: "shop", save_changes: true }, proxy: { name: "office" } },
  ],
  [
    "allow=example.com,*.example.org:443&deny=&tags.team=docs&tags.a=b",
    { ...ends, network: { allow: ["example.com", "*.example.org:443"], deny: [] }, tags: { team: "docs", a: "b" } },
  ],
  ["extensions=one,two", { ...ends, extensions: [{ name: "one" }, { name: "two" }] }],
  ["timeout=30500", { ...ends, max_duration_seconds: 31 }],
  ["timeout=1", { ...ends, max_duration_seconds: 10 }],
  [
    launch({ headless: "shell", args: ["--window-size=800,600", "--no-sandbox"], slowMo: 5 }),
    { ...ends, headless: true, viewport: { width: 800, height: 600 } },
  ],
  [
    `launch=${Buffer.from('{"headless":false,"defaultViewport":{"width":800,"height":600,"deviceScaleFactor":2}}').toString("base64url")}`,
    { ...ends, headless: false, viewport: { width: 800, height: 600 } },
  ],
])("reads %s", (query, create) => {
  expect(read(query).create).toEqual(create);
});

it("reads the wait and the session to join", () => {
  expect(read("acquire_timeout_seconds=5").waitMs).toBe(5000);
  expect(read("sessionId=k3f9").sessionId).toBe("k3f9");
});

describe("hostile and wrong settings", () => {
  it.each<readonly [query: string, message: string]>([
    ["prxoy=office", '"prxoy" is not a setting'],
    ["proxyCountry=US", '"proxyCountry" is not a setting'],
    ["__proto__=1", '"__proto__" is not a setting'],
    ["constructor=1", '"constructor" is not a setting'],
    ["name=a&name=b", "name: it is in the address twice"],
    ["headless=maybe", "headless: write true or false"],
    ["timeout_seconds=soon", "timeout_seconds: write a whole number"],
    ["timeout_seconds=5", "timeout_seconds"],
    ["viewport=big", "viewport: write it as 1280x720"],
    ["proxy=a&proxy_id=b", "give at most one of proxy and proxy_id"],
    ["profile=a&profile_id=b", "exactly one of id and name"],
    ["isolation=none", "isolation"],
    ["acquire_timeout_seconds=301", "at most 300"],
    ["sessionId=a&headless=false", "headless: a running session keeps its settings"],
    ["launch=%7Bheadless", "launch: it is neither a JSON object"],
    [launch({ args: [{ toString: 1 }] }), "launch.args"],
    ["launch=[]", "launch: it is neither a JSON object"],
    [launch({ userDataDir: "/root" }), "launch.userDataDir"],
    [launch({ executablePath: "/bin/sh" }), "launch.executablePath"],
    [launch({ proxy: { server: "http://10.0.0.1" } }), "launch.proxy"],
    [launch({ env: { LD_PRELOAD: "/tmp/a.so" } }), "launch.env"],
    [launch({ acceptInsecureCerts: true }), "launch.acceptInsecureCerts"],
    [launch({ args: "--no-sandbox" }), "launch.args: it is not a list"],
    [launch({ args: [5] }), "launch.args"],
    ...[
      "--proxy-server=10.0.0.1:3128",
      "--host-resolver-rules=MAP * 10.0.0.1",
      "--remote-debugging-port=9222",
      "--remote-debugging-address=0.0.0.0",
      "--user-data-dir=/root",
      "--load-extension=/tmp/x",
      "--disable-web-security",
      "--disable-features=IsolateOrigins",
      "--disable-site-isolation-trials",
      "--ignore-certificate-errors",
      "--user-agent=other",
      "--no-sandbox --remote-debugging-port=1",
      "--headless\n--no-sandbox",
      "https://example.com",
    ].map((argument) => [launch({ args: ["--no-sandbox", argument] }), "cannot be passed to Chromium"] as const),
  ])("refuses the settings %s", (query, message) => {
    const error = refusal(query);
    expect([error.status, error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it("shows only the beginning of a long name", () => {
    expect(refusal("x".repeat(5000)).message.length).toBeLessThan(1000);
  });
});
