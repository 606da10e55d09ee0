import { type Door, npm, pip, seleniumOfJava } from "./client.ts";

const tests = "apps/e2e/src/dialects/webdriver.slow.ts";
const frameworks = "apps/e2e/src/dialects/webdriver-frameworks.slow.ts";
const ownSession = "It has its own session, which ends with `quit`.";

export const webdriver: Door = {
  name: "WebDriver",
  page: "guide/selenium.md",
  dialect: "webdriver",
  clients: [
    {
      name: "selenium-webdriver",
      language: "Node.js",
      versions: [npm("selenium-webdriver")],
      change: "`https://key:KEY@shoal.example/wd/hub` as the address of the server",
      tests: {
        [tests]: [
          "selenium-webdriver finds, types, clicks, answers dialogs, and changes frames and windows",
          "selenium-webdriver uploads a file of its machine, lists downloads and reads them",
          "selenium-webdriver connects to CDP",
          "selenium-webdriver speaks WebDriver BiDi in the same session",
          "a session of a client that was killed ends when no command comes",
        ],
      },
      flow: "elements, dialogs, frames, windows, uploads, downloads, `se:cdp`, BiDi",
      limits: ownSession,
      code: `import { Builder } from "selenium-webdriver";

const address = new URL("SERVICE_URL/wd/hub");
Object.assign(address, { username: "key", password: process.env.SHOAL_API_KEY });
const driver = await new Builder().usingServer(address.href).forBrowser("chrome").build();`,
    },
    {
      name: "selenium-webdriver, BiDi only",
      language: "Node.js",
      versions: [npm("selenium-webdriver")],
      change: "`webdriver_ws_url` of a session as `webSocketUrl`",
      tests: {
        "apps/e2e/src/automation/npm-clients.slow.ts": [
          "selenium-webdriver's BiDi modules fill a form over the session's WebSocket",
        ],
      },
      flow: "its modules for contexts, input and scripts",
      limits: "Without `--dialects`, and without commands of WebDriver classic.",
      code: `import { Capabilities, Session, WebDriver } from "selenium-webdriver";
import { Executor } from "selenium-webdriver/lib/command.js";

// webdriver_ws_url of \`shoal browsers get SESSION_ID -o json --base-url SERVICE_URL\`
const driver = new WebDriver(new Session("", new Capabilities({ webSocketUrl })), new Executor());`,
    },
    {
      name: "Selenium for Python",
      language: "Python",
      versions: [pip("selenium")],
      change:
        'the same address, or `ClientConfig(remote_server_addr="https://shoal.example/wd/hub", auth_type=AuthType.BEARER, token=KEY)`',
      tests: { [tests]: ["Selenium for Python answers a dialog, reads console lines by BiDi, and moves files"] },
      flow: "dialogs, console lines by BiDi, uploads, downloads",
      limits: ownSession,
      code: `import os
from selenium import webdriver

address = "SERVICE_URL/wd/hub".replace("://", "://key:" + os.environ["SHOAL_API_KEY"] + "@")
driver = webdriver.Remote(command_executor=address, options=webdriver.ChromeOptions())`,
    },
    {
      name: "Selenium for Java",
      language: "Java",
      versions: [seleniumOfJava()],
      change: "`https://key:KEY@shoal.example/wd/hub` as the address of the server",
      tests: { [tests]: ["Selenium for Java finds, reads console lines by BiDi, speaks CDP, and moves files"] },
      flow: "elements, dialogs, console lines by BiDi, CDP, a second tab, uploads, downloads",
      limits: ownSession,
      code: `import java.net.URI;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.remote.RemoteWebDriver;

class Example {
  public static void main(String[] arguments) throws Exception {
    String address = "SERVICE_URL/wd/hub".replace("://", "://key:" + System.getenv("SHOAL_API_KEY") + "@");
    RemoteWebDriver driver = new RemoteWebDriver(URI.create(address).toURL(), new ChromeOptions());
    try {
      driver.get("https://example.com");
    } finally {
      driver.quit();
    }
  }
}`,
    },
    {
      name: "WebdriverIO",
      language: "Node.js",
      versions: [npm("webdriverio")],
      change: '`hostname`, `port`, `path: "/wd/hub"`, and the key as `key` with any `user`',
      tests: { [frameworks]: ["WebdriverIO speaks BiDi in its session, and ends it"] },
      flow: "forms, dialogs by BiDi, a second tab",
      limits: ownSession,
      code: `import { remote } from "webdriverio";

const { hostname, port, protocol, pathname } = new URL("SERVICE_URL/wd/hub");
const browser = await remote({
  protocol: protocol.slice(0, -1), hostname, port: Number(port) || (protocol === "https:" ? 443 : 80), path: pathname,
  user: "any", key: process.env.SHOAL_API_KEY,
  capabilities: { browserName: "chrome" },
});`,
    },
    {
      name: "Nightwatch",
      language: "Node.js",
      versions: [npm("nightwatch")],
      change:
        '`webdriver: { start_process: false, host, port, ssl, default_path_prefix: "/wd/hub" }`, `username: "any"`, `access_key: KEY`',
      tests: { [frameworks]: ["Nightwatch runs a suite"] },
      flow: "a suite with forms, dialogs and a second tab",
      limits: ownSession,
      code: `const { hostname: host, port, protocol, pathname } = new URL("SERVICE_URL/wd/hub");
const ssl = protocol === "https:";
module.exports = {
  test_settings: {
    default: {
      webdriver: { start_process: false, host, port: Number(port) || (ssl ? 443 : 80), ssl, default_path_prefix: pathname },
      username: "any", access_key: process.env.SHOAL_API_KEY,
      desiredCapabilities: { browserName: "chrome" },
    },
  },
};`,
    },
    {
      name: "CodeceptJS",
      language: "Node.js",
      versions: [npm("codeceptjs")],
      change: 'in the helper `WebDriver`: `host`, `port`, `path: "/wd/hub"`, and the key as `key` with any `user`',
      tests: { [frameworks]: ["CodeceptJS runs a suite"] },
      flow: "a suite with forms, dialogs and a second tab",
      limits: ownSession,
      code: `const { hostname: host, port, protocol, pathname: path } = new URL("SERVICE_URL/wd/hub");
export const config = {
  helpers: {
    WebDriver: {
      browser: "chrome", protocol: protocol.slice(0, -1), host, port: Number(port) || (protocol === "https:" ? 443 : 80), path,
      user: "any", key: process.env.SHOAL_API_KEY,
    },
  },
};`,
    },
  ],
};
