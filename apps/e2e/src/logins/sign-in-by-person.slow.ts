import type { AuthConnection, Shoal } from "@shoal/client";
import { examineHost } from "@shoal/placement";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, devices, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { logins, type SiteLogin } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { runService } from "../testing/service.ts";

const { chromium: installed } = await examineHost();
const pictures = process.env.SHOAL_TEST_PICTURES;
const waiting = { timeout: 90_000, interval: 100 };

let sites: Sites;
let shoal: Shoal;
let baseUrl: string;
let end: () => Promise<void>;
let proxyId: string;
let person: Browser;
let embedder: Server;
let embedderOrigin: string;

beforeAll(async () => {
  sites = await startSites();
  embedder = createServer((request, response) => {
    const html = pages.get(request.url ?? "") ?? "";
    response.writeHead(200, { "content-type": "text/html" }).end(html);
  });
  await new Promise<void>((resolve) => embedder.listen(0, "127.0.0.1", resolve));
  embedderOrigin = `http://127.0.0.1:${String((embedder.address() as AddressInfo).port)}`;
  const flags = ["--allow-private-hosts", sites.privateHost, "--sign-in-frame-ancestors", embedderOrigin];
  const service = await runService(flags);
  ({ shoal } = service);
  end = () => service.end();
  ({ baseUrl } = service.service);
  proxyId = (await shoal.proxies.create(sites.proxy)).id ?? expect.fail();
  person = await chromium.launch({
    executablePath: installed?.executable ?? "",
    chromiumSandbox: process.getuid?.() !== 0,
  });
});
afterAll(async () => {
  await person.close();
  await end();
  embedder.close();
  await sites.close();
});

/** Pages of a site that uses the service, by path. */
const pages = new Map<string, string>();
const siteLogin = (name: string): SiteLogin => logins.find(({ site }) => site === name) ?? expect.fail(name);

/** Starts a login without stored values. */
async function begin(
  login: SiteLogin,
): Promise<{ readonly connection: AuthConnection; readonly url: string; readonly code: string }> {
  const connection = await shoal.auth.connections.create({
    domain: `${login.site}.test`,
    profile_name: `${login.site}-${crypto.randomUUID().slice(0, 8)}`,
    login_url: sites.url(login.site, login.path),
    proxy: { id: proxyId },
    ...(login.allowedDomains && { allowed_domains: [...login.allowedDomains] }),
  });
  const { handoff_code: code = "", hosted_url: url } = await shoal.auth.connections.login(connection.id);
  return { connection, url, code };
}

async function fill(page: Page, { values }: SiteLogin): Promise<void> {
  await page.locator("form input").first().waitFor({ timeout: waiting.timeout });
  const texts = Object.values(values);
  for (const [index, input] of (await page.locator("form input").all()).entries()) {
    const isPassword = (await input.getAttribute("autocomplete")) === "current-password";
    await input.fill((isPassword ? values.password : texts[index]) ?? "");
  }
  await page.keyboard.press("Enter");
}

const heading = (page: Page) => page.locator("h2").textContent();

it("a person signs in on a phone, after a wrong password", async () => {
  const login = siteLogin("one-page");
  const { connection, url } = await begin(login);
  const page = await person.newPage({ ...devices["iPhone SE"] });
  await page.goto(`${url}&success_url=${encodeURIComponent("https://shop.example/done")}`);
  await fill(page, { ...login, values: { ...login.values, password: "wrong" } });
  await expect
    .poll(() => page.locator(".problem[role=alert]").allTextContents())
    .toContainEqual(expect.stringContaining(login.refused));
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/person-refused.png`, fullPage: true });
  await fill(page, login);
  await expect.poll(() => heading(page)).toBe("You are signed in");
  expect(await page.locator("a.main").getAttribute("href")).toContain("https://shop.example/done?profile_name=");
  expect((await shoal.auth.connections.get(connection.id)).status).toBe("AUTHENTICATED");
  await page.close();
});

it("a person signs in with a code on a desktop, and reloads the page meanwhile", async () => {
  const login = siteLogin("six-boxes");
  const { connection, url } = await begin(login);
  const page = await person.newPage();
  await page.goto(url);
  await fill(page, login);
  await expect.poll(() => heading(page)).toBe("Enter the code");
  expect(page.url()).not.toContain("code=");
  await page.reload();
  await expect.poll(() => heading(page)).toBe("Enter the code");
  await page.locator("form input").fill(sites.site("six-boxes").lastCode() ?? "");
  await page.keyboard.press("Enter");
  await expect.poll(() => heading(page)).toBe("You are signed in");
  expect((await shoal.auth.connections.get(connection.id)).status).toBe("AUTHENTICATED");
  const again = await person.newPage();
  await again.goto(url);
  await expect.poll(() => heading(again)).toBe("This link was used already");
  await again.close();
  await page.close();
});

it("a person sees the browser of the login for a captcha, and only then", async () => {
  const login = siteLogin("captcha-wall");
  const { connection, url } = await begin(login);
  const page = await person.newPage();
  const urls = new Set<string>();
  page.on("response", (response) => {
    if (response.url().endsWith(`/auth/connections/${connection.id}`))
      response.json().then(
        ({ browser_session_id, hosted_url, live_view_url }: AuthConnection) => {
          expect([browser_session_id, hosted_url]).toEqual([undefined, undefined]);
          if (live_view_url != null) urls.add(live_view_url);
        },
        () => undefined,
      );
  });
  await page.goto(url);
  await Promise.race([
    page.locator("iframe.live-view").waitFor(waiting),
    fill(page, login).then(() => page.locator("iframe.live-view").waitFor(waiting)),
  ]);
  const view = page.frameLocator("iframe.live-view");
  await view.locator("body.showing").waitFor({ timeout: waiting.timeout });
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/person-captcha.png`, fullPage: true });
  await expect.poll(() => urls.size).toBe(1);
  const [address = ""] = urls;
  expect((await fetch(address)).status).toBe(200);
  await page.getByRole("button", { name: "Cancel this sign-in" }).click();
  await expect.poll(() => heading(page)).toBe("The sign-in was cancelled");
  await expect.poll(async () => (await fetch(address)).status).toBe(401);
  expect((await shoal.auth.connections.get(connection.id)).flow_status).toBe("CANCELED");
  await page.close();
});

it("is embedded by the sites of the setting, and by no others", async () => {
  const { code, connection, url } = await begin(siteLogin("toast"));
  pages.set("/embeds", `<!doctype html><iframe src="${url}" width="500" height="700"></iframe>`);
  const page = await person.newPage();
  await page.goto(`${embedderOrigin}/embeds`);
  await page.frameLocator("iframe").locator("form input").first().waitFor({ timeout: waiting.timeout });
  const evil = embedderOrigin.replace("127.0.0.1", "localhost");
  const refused: string[] = [];
  page.on("console", (message) => refused.push(message.text()));
  await page.goto(`${evil}/embeds`);
  await expect.poll(() => refused.join(" ")).toMatch(/frame-ancestors/);
  expect(code).not.toBe("");
  await shoal.auth.connections.cancel(connection.id);
  await page.close();
});

/** Makes the calls of the vendor's React component in strict mode, from another origin: effects run twice. */
const componentScript = `
const json = { "content-type": "application/json" };
const call = async (path, init = {}, jwt) => {
  const answer = await fetch(base + path, { ...init, headers: { ...init.headers, ...(jwt && { authorization: "Bearer " + jwt }) } });
  if (!answer.ok) throw new Error(answer.status + " " + (await answer.json()).message);
  return answer.json();
};
const exchange = () => call("/exchange", { method: "POST", headers: json, body: JSON.stringify({ code }) });
globalThis.signIn = async (values) => {
  const [first, second] = await Promise.all([exchange(), exchange()]);
  if (first.jwt !== second.jwt) throw new Error("two tokens");
  const jwt = first.jwt;
  const events = await fetch(base + "/events", { headers: { authorization: "Bearer " + jwt, accept: "text/event-stream" } });
  if (!events.ok) throw new Error("events " + events.status);
  const reader = events.body.getReader();
  const firstEvent = new TextDecoder().decode((await reader.read()).value);
  let answered = "";
  for (;;) {
    const state = await call("", {}, jwt);
    if (state.flow_status !== "IN_PROGRESS") return { status: state.flow_status, firstEvent };
    const fields = state.discovered_fields ?? [];
    const names = fields.map(({ name }) => name).join();
    if (state.flow_step === "AWAITING_INPUT" && names !== "" && names !== answered) {
      answered = names;
      const entered = Object.fromEntries(fields.map(({ name }) => [name, values[name] ?? values.email]));
      await call("/submit", { method: "POST", headers: json, body: JSON.stringify({ fields: entered }) }, jwt);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};`;

it("lets a component on another origin sign in, which exchanges the code twice", async () => {
  const login = siteLogin("identifier-first");
  const { code, connection } = await begin(login);
  const facts = { base: `${baseUrl}/auth/connections/${connection.id}`, code };
  pages.set(
    "/component",
    `<!doctype html><script>const { base, code } = ${JSON.stringify(facts)};${componentScript}</script>`,
  );
  const page = await person.newPage();
  await page.goto(`${embedderOrigin}/component`);
  const result = await page.evaluate(
    (values) => (globalThis as unknown as { signIn(given: object): Promise<object> }).signIn(values),
    { ...login.values },
  );
  expect(result).toEqual({
    status: "SUCCESS",
    firstEvent: expect.stringContaining("event: managed_auth_state\n") as unknown,
  });
  await page.close();
});
