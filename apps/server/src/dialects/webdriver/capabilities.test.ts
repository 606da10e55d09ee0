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
    "goog:chromeOptions": { args: ["--window-size=1000,700"] },
    "selenoid:options": { name: "cart", sessionTimeout: "1m30s", enableVNC: true },
    "shoal:options": { stealth: true },
    browserVersion: "156.0",
    webSocketUrl: true,
  });
  expect(wanted).toMatchObject({
    create: { timeout_seconds: 90, viewport: { width: 1000, height: 700 }, stealth: true },
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
  ["proxy", { proxy: { proxyType: "manual", httpProxy: "127.0.0.1:1" } }],
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
  ["--proxy-server=10.0.0.1:3128", "proxy_id"],
  ["--lang=de", "location"],
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
