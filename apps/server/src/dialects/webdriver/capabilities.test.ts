import { expect, it } from "vitest";
import { readCapabilities } from "./capabilities.ts";

const read = (alwaysMatch: object, firstMatch?: readonly object[]) =>
  readCapabilities({ capabilities: { alwaysMatch, ...(firstMatch && { firstMatch }) } });

it("takes the first alternative that is possible", () => {
  const { driver } = read({ pageLoadStrategy: "eager" }, [{ browserName: "firefox" }, { browserName: "chrome" }]);
  expect(driver).toEqual({ pageLoadStrategy: "eager", "goog:chromeOptions": {} });
  expect(() => read({}, [{ browserName: "firefox" }, { browserName: "safari" }])).toThrow(/Chromium/);
});

it("passes only known options to the driver, and lists the others by name", () => {
  const { driver, ignored } = read({
    "goog:chromeOptions": {
      args: ["--headless=new", "no-sandbox", "--incognito", "remote-debugging-port=1", "--incognito"],
      binary: "/bin/sh",
      excludeSwitches: ["enable-automation"],
      perfLoggingPrefs: { enableNetwork: true },
      prefs: { "download.default_directory": "/etc" },
      w3c: true,
    },
    "se:remoteUrl": "http://user:sk_shoal_secret@127.0.0.1/wd/hub",
    "wdio:option": "sk_shoal_secret",
  });
  expect(driver).toEqual({ "goog:chromeOptions": { perfLoggingPrefs: { enableNetwork: true } } });
  expect(ignored).toEqual([
    "wdio:option",
    "goog:chromeOptions.binary",
    "goog:chromeOptions.excludeSwitches",
    "goog:chromeOptions.prefs",
    "goog:chromeOptions.args: --incognito",
    "goog:chromeOptions.args: --remote-debugging-port",
  ]);
});

it("reads the size, the name and the idle time, and fields of the service", () => {
  expect(read({}).create).toEqual({ timeout_seconds: 300 });
  const wanted = read({
    "goog:chromeOptions": { args: ["--window-size=1000,700", "lang=de-DE"] },
    "selenoid:options": { name: "cart", sessionTimeout: "1m30s", enableVNC: true, labels: { team: "shop" } },
    "se:recordVideo": true,
    "se:timeZone": "Europe/Berlin",
    "shoal:options": { stealth: true },
    browserVersion: "156.0",
    webSocketUrl: true,
  });
  expect(wanted).toMatchObject({
    create: {
      timeout_seconds: 90,
      viewport: { width: 1000, height: 700 },
      stealth: true,
      location: { locale: "de-DE", timezone: "Europe/Berlin" },
      recording: { video: true },
      tags: { team: "shop" },
    },
    ignored: ["enableVNC"],
    major: "156",
    name: "cart",
    wantsSocket: true,
  });
});

it.each<[string, object]>([
  ["goog:chromeOptions.mobileEmulation", { "goog:chromeOptions": { mobileEmulation: { deviceName: "Pixel 7" } } }],
  ["goog:chromeOptions.debuggerAddress", { "goog:chromeOptions": { debuggerAddress: "169.254.169.254:80" } }],
  ["goog:chromeOptions.extensions", { "goog:chromeOptions": { extensions: ["Q3I="] } }],
  ...[
    "user-agent=Phone",
    "--force-dark-mode",
    "--some-new-switch",
    "--user-data-dir=/etc",
    "--load-extension=/tmp/x",
    "--disable-web-security",
    "--disable-features=IsolateOrigins,Translate",
    "--enable-features=A",
    "--ignore-certificate-errors=1",
    "--no-sandbox --remote-debugging-port=1",
    "--no-sandbox\n--proxy-server=10.0.0.1",
    "https://example.com",
    5,
    { toString: 1 },
    "--host-resolver-rules=MAP * 10.0.0.1",
    "host-rules=MAP * 10.0.0.1",
    "--no-proxy-server",
    "--proxy-pac-url=data:,",
    "--dns-over-https-templates=x",
    "--accept-lang=de",
  ].map((argument): [string, object] => ["goog:chromeOptions.args", { "goog:chromeOptions": { args: [argument] } }]),
  ["goog:chromeOptions.prefs.proxy", { "goog:chromeOptions": { prefs: { proxy: { mode: "direct" } } } }],
  ["goog:chromeOptions.args", { "goog:chromeOptions": { args: "--headless" } }],
  ["goog:chromeOptions.args", { "goog:chromeOptions": { args: Array.from({ length: 501 }, () => "--headless") } }],
  ["goog:chromeOptions", { "goog:chromeOptions": [] }],
  ["timeZone", { "se:timeZone": 5 }],
  ["labels", { "selenoid:options": { labels: "shop" } }],
  ["platformName", { platformName: "windows" }],
  ["browserVersion", { browserVersion: "beta" }],
  ["screenResolution", { "se:screenResolution": "big" }],
  ["sessionTimeout", { "selenoid:options": { sessionTimeout: 5 } }],
])("refuses %s of %j", (field, capabilities) => {
  expect(() => read(capabilities)).toThrow(expect.objectContaining({ status: 400, field }));
});

it("accepts certificates that an argument accepts, and features of the window that it turns off", () => {
  const { driver, ignored } = read({
    acceptInsecureCerts: false,
    "goog:chromeOptions": { args: ["--ignore-certificate-errors", "--disable-features=Translate,MediaRouter"] },
  });
  expect(driver).toEqual({ acceptInsecureCerts: true, "goog:chromeOptions": {} });
  expect(ignored).toEqual(["goog:chromeOptions.args: --disable-features"]);
});

it.each([
  ["--proxy-pac-url=http://10.0.0.1/", "proxy_id"],
  ["--accept-lang=de", "location"],
  ["--user-data-dir=/tmp/a", "profile"],
  ["--load-extension=/tmp/a", "POST /extensions"],
  ["--user-agent=Phone", "CDP"],
  ["--some-new-switch", "shoal:options"],
])("names the next step for %s, and the beginning of a long argument", (argument, step) => {
  const args = [`${argument}${"x".repeat(5000)}`];
  expect(() => read({ "goog:chromeOptions": { args } })).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(step) as string }),
  );
  expect(() => read({ "goog:chromeOptions": { args } })).toThrow(/^.{1,300}$/);
});

it("refuses clients without W3C capabilities", () => {
  expect(() => readCapabilities({})).toThrow(/before W3C/);
  expect(() => readCapabilities({ capabilities: { firstMatch: [] } })).toThrow(/1 to 20/);
});

const custom = (host: string, port: number, more: object = {}, protocol = "http") => ({
  type: "custom",
  protocol,
  config: { host, port, ...more },
});

it.each<[string, object, object | undefined]>([
  ["direct", { proxyType: "direct" }, undefined],
  ["the one of the system", { proxyType: "SYSTEM" }, undefined],
  [
    "the same for both protocols",
    { proxyType: "manual", httpProxy: "proxy.example:3128", sslProxy: "proxy.example:3128", noProxy: ["a.example"] },
    { ...custom("proxy.example", 3128), bypass_hosts: ["a.example"] },
  ],
  [
    "with hosts in a text",
    { proxyType: "manual", httpProxy: "p.example", sslProxy: "p.example", noProxy: " .a.example, b.example," },
    { ...custom("p.example", 80), bypass_hosts: ["a.example", "*.a.example", "b.example"] },
  ],
  [
    "over SOCKS",
    { proxyType: "manual", socksProxy: "p.example:1", socksVersion: 5, socksUsername: "me", socksPassword: "word" },
    custom("p.example", 1, { username: "me", password: "word" }, "socks5"),
  ],
])("translates a proxy: %s", (_what, proxy, expected) => {
  expect(read({ proxy }).proxy).toEqual(expected);
  expect(read({ proxy }).ignored).toEqual([]);
});

it("translates the arguments of a proxy", () => {
  const args = ["--proxy-server=https://p.example:3128", "--proxy-bypass-list=a.example;*.b.example"];
  const proxy = { ...custom("p.example", 3128, {}, "https"), bypass_hosts: ["a.example", "*.b.example"] };
  expect(read({ "goog:chromeOptions": { args } })).toMatchObject({ proxy, ignored: [] });
});

const http = { proxyType: "manual", httpProxy: "p.example:1", sslProxy: "p.example:1" };
it.each<[string, object]>([
  ["pac", { proxy: { proxyType: "pac", proxyAutoconfigUrl: "http://169.254.169.254/" } }],
  ["autodetect", { proxy: { proxyType: "autodetect" } }],
  ["one protocol", { proxy: { proxyType: "manual", httpProxy: "p.example:1" } }],
  ["two proxies", { proxy: { ...http, sslProxy: "q.example:1" } }],
  ["two kinds", { proxy: { ...http, socksProxy: "p.example:1", socksVersion: 5 } }],
  ["SOCKS 4", { proxy: { proxyType: "manual", socksProxy: "p.example:1", socksVersion: 4 } }],
  ["nothing", { proxy: { proxyType: "manual" } }],
  ["a path", { proxy: { ...http, httpProxy: "p.example/a", sslProxy: "p.example/a" } }],
  ["a file", { proxy: { ...http, httpProxy: "file:///etc/passwd", sslProxy: "file:///etc/passwd" } }],
  ["a number", { proxy: { ...http, httpProxy: 5 } }],
  ["numbers", { proxy: { ...http, noProxy: [5] } }],
  ["an object", { proxy: { ...http, noProxy: {} } }],
  ["a list", { proxy: [] }],
  ["a stored one as well", { proxy: http, "shoal:options": { proxy_id: "office" } }],
  ["none as well", { proxy: http, "shoal:options": { proxy: { type: "direct" } } }],
  ["an argument as well", { proxy: http, "goog:chromeOptions": { args: ["--proxy-server=p.example:1"] } }],
  [
    "an argument and a stored one",
    { "goog:chromeOptions": { args: ["--proxy-server=p.example:1"] }, "shoal:options": { proxy_id: "a" } },
  ],
  [
    "an argument for each protocol",
    { "goog:chromeOptions": { args: ["--proxy-server=http=a.example;https=b.example"] } },
  ],
  ["hosts without a proxy", { "goog:chromeOptions": { args: ["--proxy-bypass-list=a.example"] } }],
])("refuses a proxy that would send traffic another way: %s", (_what, capabilities) => {
  expect(() => read(capabilities)).toThrow(expect.objectContaining({ status: 400 }));
});
