import { waitLimitMs } from "@shoal/testkit";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeHands } from "../sites/by-hand/codes.ts";
import { domainHands, wordHands } from "../sites/by-hand/domains.ts";
import { factorHands } from "../sites/by-hand/factors.ts";
import type { Hands, Person } from "../sites/by-hand/person.ts";
import { plainHands } from "../sites/by-hand/plain.ts";
import { ruleHands } from "../sites/by-hand/rules.ts";
import { scriptHands } from "../sites/by-hand/scripts.ts";
import { stepHands } from "../sites/by-hand/steps.ts";
import { deadEnds, logins, type SiteLogin } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { authorityPlacements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { useService } from "../testing/service.ts";

const hands: Readonly<Record<string, Hands>> = {
  ...plainHands,
  ...codeHands,
  ...factorHands,
  ...ruleHands,
  ...scriptHands,
  ...domainHands,
  ...wordHands,
  ...stepHands,
};

let sites: Sites;
beforeAll(async () => {
  sites = await startSites();
});
afterAll(() => sites.close());

// The first placement that can run here: the sites do not depend on it.
const { title, skip } = authorityPlacements.find((each) => !each.skip) ?? authorityPlacements[0] ?? expect.fail();

describe.skipIf(skip)(`login sites in a session, in the placement ${title}`, () => {
  const test = useService(() => ["--placement", title, "--allow-private-hosts", sites.privateHost]);
  let client: Browser;
  let page: Page;
  beforeAll(async () => {
    const proxy = await test.shoal.proxies.create(sites.proxy);
    const session = await test.shoal.browsers.create({
      ...(proxy.id !== undefined && { proxy_id: proxy.id }),
      timeout_seconds: 3600,
    });
    client = await chromium.connectOverCDP(session.cdp_ws_url);
    page = await firstPageOf(client);
    page.setDefaultTimeout(waitLimitMs);
  });
  afterAll(() => client.close());

  /** A person with the right secret, or with a wrong one. */
  function personFor(login: SiteLogin, isRight: boolean): Person {
    const { email, username, password } = login.values;
    const site = sites.site(login.accountsOf ?? login.site);
    return {
      page,
      sites,
      site,
      login,
      isRight,
      name: email ?? username ?? "",
      secret: () => (isRight ? (password ?? site.lastCode() ?? "") : "Wrong-0000"),
    };
  }

  it.each(logins)("refuses a wrong secret on $site, accepts the right one, and signs out", async (login) => {
    const hand = hands[login.site] ?? expect.fail(`Write by hand how to sign in to ${login.site}.`);
    const site = sites.site(login.accountsOf ?? login.site);
    await page.goto(sites.url(login.site, login.path));
    if (login.alreadySignedIn === true) await page.getByText(login.signedIn).waitFor();
    const stranger = personFor(login, false);
    await hand.begin(stranger);
    await (hand.refused?.(stranger) ?? page.getByText(login.refused).first().waitFor());
    expect(site.sessions()).toBe(0);

    await page.goto(sites.url(login.site, login.path));
    const person = personFor(login, true);
    await hand.begin(person);
    await hand.finish?.(person);
    await page.getByText(login.signedIn).first().waitFor();
    if (login.keepsSessions === false) return;
    expect(site.sessions()).toBe(1);

    const signOut = /\b(log|sign) ?(out|off)\b/i;
    await (
      hand.signOut?.(page) ?? page.getByRole("link", { name: signOut }).or(page.getByRole("button", { name: signOut }))
    )
      .first()
      .click();
    await expect.poll(() => site.sessions()).toBe(0);
  });

  it.each(deadEnds)("shows no login on $site at $path", async ({ site, path, text, status }) => {
    const answer = await page.goto(sites.url(site, path));
    expect(answer?.status()).toBe(status);
    await page.getByText(text).first().waitFor();
    if (site !== "open-redirect") expect(await page.locator("[type=password]").count()).toBe(0);
  });

  it("reaches the copy on another host after a login whose address names it", async () => {
    const login = logins.find(({ site }) => site === "open-redirect") ?? expect.fail();
    const [site, copy] = [sites.site("open-redirect"), sites.site("open-redirect-login")];
    await page.goto(sites.url("open-redirect", "/login?next=https://open-redirect-login.test/login"));
    await hands["open-redirect"]?.begin(personFor(login, true));
    await page.getByText("Your session has expired").waitFor();
    expect(page.url()).toBe("https://open-redirect-login.test/login");
    expect(copy.attempts()).toEqual([]);
    await hands["open-redirect"]?.begin(personFor(login, true));
    await page.getByText(login.signedIn).waitFor();
    expect(copy.requests()).toContain("POST /typed");
    expect(copy.attempts()).toHaveLength(1);
    site.expireSessions();
  });

  it("offers the provider's account to choose while the browser is signed in there", async () => {
    const login = logins.find(({ site }) => site === "with-provider") ?? expect.fail();
    const person = personFor(login, true);
    sites.site("accounts.google.com").expireSessions();
    for (const knowsAccount of [false, true]) {
      person.site.expireSessions();
      await page.goto(sites.url("with-provider"));
      if (knowsAccount) {
        await page.getByRole("link", { name: "Continue with Google" }).click();
        await page.getByText("Choose an account").waitFor();
        await page.locator("[data-identifier='ada@gmail.test']").click();
      } else await hands["with-provider"]?.begin(person);
      await hands["with-provider"]?.finish?.(person);
      await page.getByText(login.signedIn).waitFor();
    }
  });

  it("returns to the login automatically when a session expires", async () => {
    const login = logins.find(({ site }) => site === "expiring") ?? expect.fail();
    await page.goto(sites.url("expiring"));
    await hands.expiring?.begin(personFor(login, true));
    await page.getByText(login.signedIn).waitFor();
    sites.site("expiring").expireSessions();
    await page.getByText("you have been logged out").waitFor();
  });

  it("prompts for a passkey, which fails on an authenticator without one", async () => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true },
    });
    await page.goto(sites.url("passkey"));
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("We couldn't use your passkey.").waitFor();
    await cdp.send("WebAuthn.disable");
    await cdp.detach();
  });

  it.each([
    ["keeps", true],
    ["ends", false],
  ])("%s the session when the browser closes, with the box of remember-me set to %s", async (_, isTicked) => {
    await page.goto(sites.url("remember-me", "/wp-login.php"));
    await page.getByLabel("Remember Me").setChecked(isTicked);
    await page.locator("#user_login").fill("ada");
    await page.locator("#user_pass").fill("gazette*Ink*17");
    await page.locator("#wp-submit").click();
    await page.getByText("Howdy, Ada").waitFor();
    const [cookie] = await page.context().cookies(sites.url("remember-me"));
    expect((cookie?.expires ?? Number.NaN) > 0).toBe(isTicked);
    sites.site("remember-me").expireSessions();
  });

  it("lists the sites for people, and redirects plain HTTP to HTTPS", async () => {
    await page.goto(sites.list.replace("https:", "http:"));
    expect(page.url()).toBe("https://sites.test/");
    for (const { site } of logins) await page.getByRole("link", { name: site, exact: true }).waitFor();
  });

  it("cannot reach a site that is offline", async () => {
    sites.setOnline("one-page", false);
    await expect(page.goto(sites.url("one-page"))).rejects.toThrow("net::ERR_TUNNEL_CONNECTION_FAILED");
    await page.waitForURL("chrome-error://chromewebdata/");
    sites.setOnline("one-page", true);
    expect((await page.goto(sites.url("one-page")))?.status()).toBe(200);
  });

  it("locks an account after three wrong passwords, even for the right one, until it is unlocked", async () => {
    const login = logins.find(({ site }) => site === "lock-out") ?? expect.fail();
    const site = sites.site("lock-out");
    site.unlock();
    const begin = async (isRight: boolean) => {
      await page.goto(sites.url("lock-out"));
      await hands["lock-out"]?.begin(personFor(login, isRight));
    };
    for (const _ of [1, 2, 3]) {
      await begin(false);
      // The site has counted the password.
      await page.getByText(login.refused).or(page.getByText("Your account has been locked")).first().waitFor();
    }
    await begin(true);
    await page.getByText("Your account has been locked").waitFor();
    expect(
      site
        .attempts()
        .slice(-4)
        .map(({ outcome }) => outcome),
    ).toEqual(["wrong", "wrong", "wrong", "locked"]);
    site.unlock();
    await begin(true);
    await page.getByText(login.signedIn).waitFor();
    site.expireSessions();
    await page.goto(sites.url("lock-out"));
    await page.getByText("Employee sign on").waitFor();
  });
});
