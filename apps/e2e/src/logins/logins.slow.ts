import type { AuthConnection, Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { logins, type SiteLogin } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { runService } from "../testing/service.ts";

let sites: Sites;
let shoal: Shoal;
let service: Awaited<ReturnType<typeof runService>>;
let proxyId: string;

beforeAll(async () => {
  sites = await startSites();
  const { values } = siteLogin("toast");
  service = await runService(
    [
      "--allow-private-hosts",
      sites.privateHost,
      "--credential-env-prefix",
      "LOGIN_",
      "--credential-provider-hosts",
      "127.0.0.1:9",
    ],
    {
      env: {
        ...process.env,
        LOGIN_TOAST_USERNAME: values.username,
        LOGIN_TOAST_PASSWORD: values.password,
        LOGIN_TOAST_URL: sites.url("toast"),
      },
    },
  );
  ({ shoal } = service);
  proxyId = (await shoal.proxies.create(sites.proxy)).id ?? expect.fail();
});
afterAll(async () => {
  await service.end();
  await sites.close();
});

const siteLogin = (name: string): SiteLogin => logins.find(({ site }) => site === name) ?? expect.fail(name);

/** Connects a new profile to a site. @param stored - names of the values that a credential has. */
async function connect(login: SiteLogin, stored: readonly string[]): Promise<AuthConnection> {
  const profile = `${login.site}-${crypto.randomUUID().slice(0, 8)}`;
  const values = Object.fromEntries(Object.entries(login.values).filter(([name]) => stored.includes(name)));
  if (stored.length > 0)
    await shoal.credentials.create({
      name: profile,
      domain: `${login.site}.test`,
      values,
      ...(login.totpSecret !== undefined && { totp_secret: login.totpSecret }),
    });
  return shoal.auth.connections.create({
    domain: `${login.site}.test`,
    profile_name: profile,
    login_url: sites.url(login.site, login.path),
    proxy: { id: proxyId },
    health_checks: false,
    ...(login.allowedDomains && { allowed_domains: [...login.allowedDomains] }),
    ...(stored.length > 0 && { credential: { name: profile } }),
  });
}

const ended = (id: string) =>
  eventually("the login has ended", async () => {
    const connection = await shoal.auth.connections.get(id);
    return connection.flow_status === "IN_PROGRESS" ? undefined : connection;
  });

const asked = (id: string) =>
  eventually("the login asks a question", async () => {
    const connection = await shoal.auth.connections.get(id);
    if (connection.flow_status !== "IN_PROGRESS") return expect.fail(JSON.stringify(connection));
    return connection.interaction_id === undefined ? undefined : connection;
  });

/** The text of the site in a new session with the profile. */
async function textIn(profile: string, url: string): Promise<string> {
  const browser = await shoal.browsers.create({ profile: { name: profile }, proxy: { id: proxyId } });
  try {
    const { result } = await shoal.browsers.playwright.execute(browser.session_id, {
      code: `await page.goto(${JSON.stringify(url)}); return page.innerText("body");`,
    });
    return String(result);
  } finally {
    await shoal.browsers.delete(browser.session_id);
  }
}

it("signs in with a stored credential and its one-time codes, and new sessions are signed in", async () => {
  const login = siteLogin("totp");
  const { id, profile_name } = await connect(login, ["username", "password"]);
  expect(await shoal.auth.connections.login(id)).toMatchObject({ id, flow_type: "LOGIN" });
  expect(await ended(id)).toMatchObject({
    flow_status: "SUCCESS",
    status: "AUTHENTICATED",
    post_login_url: expect.stringContaining("https://totp.test") as unknown,
  });
  expect((await shoal.browsers.list()).items).toEqual([]);
  expect(await textIn(profile_name, sites.url("totp"))).toContain(login.signedIn);
  const { items } = await shoal.auth.connections.timeline(id);
  expect(items[0]).toMatchObject({ type: "login", status: "SUCCESS", step: "COMPLETED" });
});

it("types a stored credential on its own sites only, until an administrator adds one", async () => {
  const own = siteLogin("one-page");
  const other = siteLogin("toast");
  const name = `bound-${crypto.randomUUID().slice(0, 8)}`;
  await shoal.credentials.create({ name, domain: `${own.site}.test`, values: { ...other.values } });
  const { id } = await shoal.auth.connections.create({
    domain: `${other.site}.test`,
    profile_name: name,
    login_url: sites.url(other.site, other.path),
    allowed_domains: [`${own.site}.test`, `${other.site}.test`, "*.test"],
    proxy: { id: proxyId },
    health_checks: false,
    credential: { name },
  });
  const before = sites.site(other.site).attempts().length;
  await shoal.auth.connections.login(id);
  expect(await ended(id)).toMatchObject({ flow_status: "FAILED", error_code: "domain_not_allowed" });
  expect(sites.site(other.site).attempts()).toHaveLength(before);

  await shoal.credentials.update(name, { sites: [`${other.site}.test`] });
  await shoal.auth.connections.login(id);
  expect(await ended(id)).toMatchObject({ flow_status: "SUCCESS" });
});

it("asks a person for missing values, stores them, and needs no person the next time", async () => {
  const login = siteLogin("one-page");
  const { id } = await connect(login, []);
  await shoal.auth.connections.login(id);
  const events = (async () => {
    const seen: (string | undefined)[] = [];
    for await (const event of shoal.auth.connections.follow(id))
      if (event.event === "managed_auth_state") seen.push(event.flow_step);
    return seen;
  })();
  const first = await asked(id);
  expect(first).toMatchObject({
    flow_step: "AWAITING_INPUT",
    fields: [
      { id: "email", type: "identifier", reason: "missing" },
      { id: "password", type: "password", reason: "missing" },
    ],
    discovered_fields: [{ name: "email" }, { name: "password" }],
  });
  await expect(shoal.auth.connections.login(id)).rejects.toMatchObject({ status: 409 });
  await expect(shoal.auth.connections.submit(id, { fields: { nonsense: "x" } })).rejects.toMatchObject({ status: 422 });
  const { email = "", password = "" } = login.values;
  await shoal.auth.connections.submit(id, { fields: { email, password: "Wrong-0000" } });
  const again = await eventually("the login requires the password again", async () => {
    const connection = await asked(id);
    return connection.interaction_id === first.interaction_id ? undefined : connection;
  });
  expect(again).toMatchObject({ website_error: login.refused });
  const right = { interaction_id: again.interaction_id, field_values: { email, password } };
  const answers = await Promise.allSettled([1, 2, 3].map(() => shoal.auth.connections.submit(id, right)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await ended(id)).toMatchObject({
    flow_status: "SUCCESS",
    credential: { name: expect.any(String) as unknown },
  });
  expect((await events).at(-1)).toBe("COMPLETED");
  await expect(shoal.auth.connections.submit(id, right)).rejects.toMatchObject({ status: 404 });

  sites.site("one-page").expireSessions();
  await shoal.auth.connections.login(id);
  expect(await ended(id)).toMatchObject({ flow_status: "SUCCESS" });
});

it("reports a refused credential, which it types once, and leaves the profile as it was", async () => {
  const login = siteLogin("toast");
  const { id, profile_name } = await connect({ ...login, values: { ...login.values, password: "Wrong-0000" } }, [
    "username",
    "password",
  ]);
  const before = sites.site("toast").attempts().length;
  await shoal.auth.connections.login(id);
  expect(await ended(id)).toMatchObject({
    flow_status: "FAILED",
    status: "NEEDS_AUTH",
    error_code: "credentials_invalid",
    website_error: login.refused,
  });
  expect(sites.site("toast").attempts()).toHaveLength(before + 1);
  expect(await shoal.profiles.get(profile_name)).not.toHaveProperty("saved_at");
});

it("continues automatically after a person acted elsewhere", async () => {
  const login = siteLogin("push");
  const { id } = await connect(login, Object.keys(login.values));
  await shoal.auth.connections.login(id);
  const question = await eventually("the login waits for the app", async () => {
    const connection = await shoal.auth.connections.get(id);
    return connection.flow_step === "AWAITING_EXTERNAL_ACTION" ? connection : undefined;
  });
  sites.push.approve(/\b\d\d\b/.exec(question.external_action_message ?? "")?.[0] ?? "");
  expect(await ended(id)).toMatchObject({ flow_status: "SUCCESS" });
});

it("ends the browser of a login that is cancelled, deleted, or whose browser is deleted", async () => {
  const login = siteLogin("one-page");
  const first = await connect(login, []);
  await shoal.auth.connections.login(first.id);
  await asked(first.id);
  await shoal.auth.connections.cancel(first.id);
  await shoal.auth.connections.cancel(first.id);
  expect(await shoal.auth.connections.get(first.id)).toMatchObject({ flow_status: "CANCELED", flow_step: "COMPLETED" });

  const second = await connect(login, []);
  await shoal.auth.connections.login(second.id);
  const { browser_session_id } = await asked(second.id);
  await shoal.browsers.delete(browser_session_id ?? expect.fail());
  expect(await ended(second.id)).toMatchObject({ flow_status: "FAILED", error_code: "browser_error" });

  const third = await connect(login, []);
  await shoal.auth.connections.login(third.id);
  await asked(third.id);
  await shoal.auth.connections.delete(third.id);
  await eventually("no browser is left", async () => (await shoal.browsers.list()).items.length === 0);
});

it("signs in with the operator's credentials, and asks a person when a provider is down", async () => {
  const login = siteLogin("toast");
  const { id } = await connect(login, []);
  const { items: before } = await shoal.credentials.list();
  await expect(
    shoal.auth.connections.update(id, { credential: { provider: "none", auto: true } }),
  ).rejects.toMatchObject({
    status: 404,
  });
  await shoal.auth.connections.update(id, { credential: { provider: "env", auto: true } });
  await shoal.auth.connections.login(id);
  expect(await ended(id)).toMatchObject({
    flow_status: "SUCCESS",
    credential: { provider: "env", auto: true },
    can_reauth_reason: "external_credential",
  });

  sites.site("toast").expireSessions();
  const settings = { address: "http://127.0.0.1:9", mount: "secret" };
  const vault = await shoal.credentialProviders.create({
    name: "vault",
    provider_type: "vault",
    token: "hvs.x",
    settings,
  });
  await shoal.auth.connections.update(id, { credential: { provider: "vault", path: "logins/toast" } });
  await shoal.credentialProviders.update(vault.id, { name: "safe" });
  expect(await shoal.auth.connections.get(id)).toMatchObject({
    credential: { provider: "safe", path: "logins/toast" },
  });
  await shoal.auth.connections.login(id);
  const { interaction_id } = await asked(id);
  const { items } = await shoal.auth.connections.timeline(id);
  expect(items[0]?.note).toContain("safe: ");
  await shoal.auth.connections.submit(id, { interaction_id, field_values: login.values });
  expect(await ended(id)).toMatchObject({ flow_status: "SUCCESS" });
  // What a person enters is not stored next to a provider.
  expect((await shoal.credentials.list()).items).toEqual(before);
});

it("waits for a browser that writes to the profile", async () => {
  const { id, profile_name } = await connect(siteLogin("one-page"), ["email", "password"]);
  const writer = await shoal.browsers.create({ profile: { name: profile_name, save_changes: true } });
  await shoal.auth.connections.login(id);
  expect(await shoal.auth.connections.get(id)).toMatchObject({ flow_status: "IN_PROGRESS", flow_step: "DISCOVERING" });
  await shoal.browsers.delete(writer.session_id);
  expect(await ended(id)).toMatchObject({ flow_status: "SUCCESS" });
});
