import Kernel from "@onkernel/sdk";
import type { Shoal } from "@shoal/client";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { logins, type SiteLogin } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { runService } from "../testing/service.ts";
import { noScript, onTerminal, type TerminalRun } from "../testing/terminal.ts";

let sites: Sites;
let shoal: Shoal;
let running: Awaited<ReturnType<typeof runService>>;
let proxyId: string;

beforeAll(async () => {
  sites = await startSites();
  running = await runService(["--allow-private-hosts", sites.privateHost]);
  ({ shoal } = running);
  proxyId = (await shoal.proxies.create(sites.proxy)).id ?? expect.fail();
});
afterAll(async () => {
  await running.end();
  await sites.close();
});

const siteLogin = (name: string): SiteLogin => logins.find(({ site }) => site === name) ?? expect.fail(name);
/** The part of a connection that is special to the test sites. */
const placeOf = ({ path, site }: SiteLogin) => ({
  domain: `${site}.test`,
  login_url: sites.url(site, path),
  proxy: { id: proxyId },
  health_checks: false,
});

const readPage = (url: string) => `await page.goto(${JSON.stringify(url)}); return page.innerText("body");`;

async function textIn(profile: string, url: string): Promise<string> {
  await using browser = await shoal.browsers.create({ profile: { name: profile }, proxy: { id: proxyId } });
  return String((await shoal.browsers.playwright.execute(browser.session_id, { code: readPage(url) })).result);
}

const seen = (run: TerminalRun, text: string) => expect.poll(() => run.screen()).toContain(text);

const withoutScript = noScript();
it.skipIf(withoutScript)(
  `shoal auth connect signs in with hidden input${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  async () => {
    const login = siteLogin("one-page");
    const { email = "", password = "" } = login.values;
    await shoal.auth.connections.create({ ...placeOf(login), profile_name: "typed" });
    const run = onTerminal(["auth", "connect", "one-page.test", "--profile", "typed"], {
      SHOAL_BASE_URL: running.service.baseUrl,
      SHOAL_API_KEY: running.service.apiKey,
      SHOAL_CONFIG_DIR: join(tmpdir(), "shoal-no-config"),
    });
    await seen(run, "/auth/sign-in/");
    await seen(run, "Email");
    run.type(`${email}\r`);
    await seen(run, "Password");
    run.type("Wrong-0000\r");
    await seen(run, login.refused);
    // The site may require the address again; Enter keeps it.
    await seen(run, "(rejected)");
    if (/Email[^\n]*\(rejected\)/.test(run.screen())) run.type("\r");
    await expect.poll(() => run.screen()).toMatch(/Password[^\n]*\(rejected\)/);
    run.type(`${password}\r`);
    expect(await run.status, run.screen()).toBe(0);
    expect(run.screen()).toContain("Profile typed is signed in to one-page.test as ada@example.com.");
    expect(run.screen()).not.toContain(password);
    expect(run.screen()).not.toContain("Wrong-0000");
    expect(await textIn("typed", sites.url("one-page"))).toContain(login.signedIn);
  },
);

it("the vendor's SDK signs in with a stored credential and its one-time codes, without a person", async () => {
  const kernel = new Kernel({ apiKey: running.service.apiKey, baseURL: running.service.baseUrl });
  const login = siteLogin("totp");
  const credential = await kernel.credentials.create({
    name: "vendor",
    domain: "totp.test",
    values: { ...login.values },
    totp_secret: login.totpSecret ?? expect.fail(),
  });
  expect(credential).toMatchObject({ has_totp_secret: true, totp_code: expect.stringMatching(/^\d{6}$/) as unknown });
  const connection = await kernel.auth.connections.create({
    ...placeOf(login),
    profile_name: "vendor",
    credential: { name: "vendor" },
  });
  const started = await kernel.auth.connections.login(connection.id);
  expect(started).toMatchObject({ id: connection.id, flow_type: "LOGIN" });
  const steps: string[] = [];
  for await (const event of await kernel.auth.connections.follow(connection.id))
    if (event.event === "managed_auth_state") steps.push(event.flow_status);
  expect(steps.at(-1)).toBe("SUCCESS");
  expect(await kernel.auth.connections.retrieve(connection.id)).toMatchObject({
    status: "AUTHENTICATED",
    flow_status: "SUCCESS",
  });
  const browser = await kernel.browsers.create({ profile: { name: "vendor" }, proxy_id: proxyId });
  const { result } = await kernel.browsers.playwright.execute(browser.session_id, {
    code: readPage(sites.url("totp")),
  });
  expect(String(result)).toContain(login.signedIn);
  await kernel.browsers.deleteByID(browser.session_id);
});
