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
  service = await runService([...["--allow-private-hosts", sites.privateHost], ...["--min-health-check-seconds", "1"]]);
  ({ shoal } = service);
  proxyId = (await shoal.proxies.create(sites.proxy)).id ?? expect.fail();
});
afterAll(async () => {
  await service.end();
  await sites.close();
});

const siteLogin = (name: string): SiteLogin => logins.find(({ site }) => site === name) ?? expect.fail(name);
const connections = () => shoal.auth.connections;

/** A connection that has signed in with a stored credential. It is not checked on schedule. */
async function signedIn(name: string, change: { readonly auto_reauth?: boolean } = {}): Promise<AuthConnection> {
  const login = siteLogin(name);
  const profile = `${name}-${crypto.randomUUID().slice(0, 8)}`;
  const { totpSecret } = login;
  await shoal.credentials.create({
    name: profile,
    domain: `${name}.test`,
    values: login.values,
    ...(totpSecret !== undefined && { totp_secret: totpSecret }),
  });
  const { id } = await connections().create({
    domain: `${name}.test`,
    profile_name: profile,
    credential: { name: profile },
    login_url: sites.url(name, login.path),
    proxy: { id: proxyId },
    health_checks: false,
    ...change,
  });
  await connections().login(id);
  const connection = await eventually("the login has ended", async () => {
    const present = await connections().get(id);
    return present.flow_status === "IN_PROGRESS" ? undefined : present;
  });
  expect(connection).toMatchObject({ flow_status: "SUCCESS", status: "AUTHENTICATED" });
  return connection;
}

const checkOnSchedule = (id: string) => connections().update(id, { health_checks: true, health_check_interval: 1 });
const stopChecks = (id: string) => connections().update(id, { health_checks: false });

/** Oldest first. */
async function timelineOf(id: string) {
  const { items } = await connections().timeline(id, { limit: 100 });
  return items.toReversed();
}

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

it("finds an expired login on schedule and signs in again without a person", async () => {
  const { id, profile_name } = await signedIn("expiring");
  expect(await connections().get(id)).toMatchObject({ can_reauth: true, can_reauth_reason: "viable_plans_found" });
  sites.site("expiring").expireSessions();
  expect(await textIn(profile_name, sites.url("expiring"))).toContain("Log in");
  await checkOnSchedule(id);
  await eventually("the service has signed in again", async () => {
    const rows = await timelineOf(id);
    return rows.some(({ status, type }) => type === "reauth" && status === "SUCCESS") ? rows : undefined;
  });
  const checked = await eventually("a check finds the new login", async () => {
    const rows = await timelineOf(id);
    return [undefined, "IN_PROGRESS"].includes(rows[3]?.status) ? undefined : rows;
  });
  await stopChecks(id);
  expect(checked.slice(0, 4)).toMatchObject([
    { type: "login", status: "SUCCESS" },
    {
      type: "health_check",
      previous_status: "AUTHENTICATED",
      status: "NEEDS_AUTH",
      error_message: "The page shows a login form.",
      browser_session_id: expect.any(String) as unknown,
    },
    { type: "reauth", status: "SUCCESS", step: "COMPLETED" },
    { type: "health_check", previous_status: "AUTHENTICATED", status: "AUTHENTICATED" },
  ]);
  expect(await connections().get(id)).toMatchObject({
    status: "AUTHENTICATED",
    last_auth_check_at: expect.any(String) as unknown,
    flow_type: "REAUTH",
  });
  expect(await textIn(profile_name, sites.url("expiring"))).toContain("Portfolio of Ada Lovelace");
});

it("checks on request, and saves the profile only when it is signed in", async () => {
  const { id, profile_name } = await signedIn("expiring", { auto_reauth: false });
  const saved = async () => (await shoal.profiles.get(profile_name)).saved_at;
  const atLogin = await saved();
  const first = await connections().check(id, { wait_seconds: 60 });
  expect(first).toMatchObject({ type: "health_check", status: "AUTHENTICATED", previous_status: "AUTHENTICATED" });
  const afterCheck = await saved();
  expect(Date.parse(afterCheck ?? "")).toBeGreaterThan(Date.parse(atLogin ?? ""));
  sites.site("expiring").expireSessions();
  const started = await connections().check(id);
  expect(started).toMatchObject({ status: "IN_PROGRESS" });
  const joined = await connections().check(id, { wait_seconds: 60 });
  expect(joined).toMatchObject({ id: started.id, status: "NEEDS_AUTH", previous_status: "AUTHENTICATED" });
  expect(await saved()).toBe(afterCheck);
  expect((await timelineOf(id)).map(({ id: row }) => row)).toContain(first.id);
  expect(await connections().get(id)).toMatchObject({ status: "NEEDS_AUTH", can_reauth: true });
});

it("keeps the status when the site cannot be reached, and says why", async () => {
  const { id } = await signedIn("one-page");
  sites.setOnline("one-page", false);
  try {
    const row = await connections().check(id, { wait_seconds: 60 });
    expect(row).toMatchObject({ status: "AUTHENTICATED", previous_status: "AUTHENTICATED" });
    expect([row.error_code, row.error_message]).toEqual([expect.any(String), expect.any(String)]);
    expect(await connections().get(id)).toMatchObject({
      status: "AUTHENTICATED",
      last_auth_check_at: expect.any(String) as unknown,
    });
  } finally {
    sites.setOnline("one-page", true);
  }
});

it("tries refused values once, until the credential changes", async () => {
  const { id, profile_name } = await signedIn("toast");
  const site = sites.site("toast");
  await shoal.credentials.update(profile_name, { values: { password: "Wrong-0000" } });
  site.expireSessions();
  const before = site.attempts().length;
  await checkOnSchedule(id);
  const failed = await eventually("an automatic login fails", async () =>
    (await timelineOf(id)).find(({ status, type }) => type === "reauth" && status === "FAILED"),
  );
  expect(failed).toMatchObject({ error_code: "credentials_invalid" });
  expect(await connections().get(id)).toMatchObject({
    status: "NEEDS_AUTH",
    can_reauth: false,
    can_reauth_reason: "requires_customer_input",
  });
  // Without a limit, the service would try again at once.
  await connections().check(id, { wait_seconds: 60 });
  expect(site.attempts()).toHaveLength(before + 1);
  await shoal.credentials.update(profile_name, { values: { password: siteLogin("toast").values.password ?? "" } });
  await eventually("the service signs in with the new value", async () => {
    const { status } = await connections().get(id);
    return status === "AUTHENTICATED";
  });
  await stopChecks(id);
});

it("waits for a session that writes to the profile", async () => {
  const { id, profile_name } = await signedIn("one-page");
  const browser = await shoal.browsers.create({ profile: { name: profile_name, save_changes: true } });
  const row = await connections().check(id, { wait_seconds: 60 });
  expect(row).toMatchObject({
    status: "AUTHENTICATED",
    error_code: "profile_in_use",
    error_message: expect.stringContaining(browser.session_id) as unknown,
  });
  expect(await connections().get(id)).not.toHaveProperty("last_auth_check_at");
  await shoal.browsers.delete(browser.session_id);
  const again = await connections().check(id, { wait_seconds: 60 });
  expect(again).not.toHaveProperty("error_code");
});

it("ends for a login of a person", async () => {
  const { id } = await signedIn("one-page");
  await connections().check(id);
  await connections().login(id);
  await expect(connections().check(id)).rejects.toMatchObject({ status: 409 });
  const connection = await eventually("the login has ended", async () => {
    const present = await connections().get(id);
    return present.flow_status === "IN_PROGRESS" ? undefined : present;
  });
  expect(connection).toMatchObject({ flow_status: "SUCCESS" });
  await eventually("no browser is left", async () => (await shoal.browsers.list()).items.length === 0);
});
