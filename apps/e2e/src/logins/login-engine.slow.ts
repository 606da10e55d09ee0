import { createPlacement, FrontPage, type Instance, type Placement } from "@shoal/placement";
import {
  allowedHosts,
  checkSignedIn,
  type CheckVerdict,
  Login,
  type LoginAnswers,
  type LoginNeed,
  type LoginOutcome,
  type LoginPage,
  type LoginPlan,
  readSight,
} from "@shoal/login";
import { eventually } from "@shoal/testkit";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { totpCode } from "../sites/hosting/totp.ts";
import { deadEnds, logins, type SiteLogin } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { authorityPlacements } from "../testing/components.ts";

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const { skip, title } = authorityPlacements.find((each) => !each.skip) ?? authorityPlacements[0] ?? expect.fail();
const maxAnswers = 6;

let sites: Sites;
let folder: string;
let placement: Placement;
let instance: Instance;
let page: LoginPage;

/** Set it to a folder to renew the saved outlines of `packages/login/src/testing/outlines`. */
const outlineFolder = process.env.SHOAL_SAVE_OUTLINES;

/** A page that saves each new kind of page that a login on a site sees. */
function savingPage(site: string): LoginPage {
  const seen = new Set<string>();
  return {
    act: (act) => page.act(act),
    settle: (wishes) => page.settle(wishes),
    async read(status) {
      const sight = await page.read(status);
      const { outline } = sight;
      const { signature } = sight.reading;
      if (outlineFolder === undefined || seen.has(signature)) return sight;
      seen.add(signature);
      const { frames, nodes, ...rest } = outline;
      const lines = nodes.map((node) => `    ${JSON.stringify(node)}`).join(",\n");
      const head = JSON.stringify({ ...rest, frames }).slice(0, -1);
      await writeFile(join(outlineFolder, `${site}-${String(seen.size)}.json`), `${head},"nodes":[\n${lines}\n]}\n`);
      return sight;
    },
  };
}

function pageOf(front: FrontPage): LoginPage {
  return {
    act: (act) => front.act(act),
    settle: (wishes) => front.settle(wishes),
    read: async (status) => readSight(await front.outlineText(), status),
  };
}

describe.skipIf(skip)(`the login engine, in the placement ${title}`, () => {
  beforeAll(async () => {
    sites = await startSites();
    folder = await mkdtemp(join(tmpdir(), "shoal-login-"));
    placement = await createPlacement({
      kind: title === "sandbox" ? "sandbox" : "process",
      sessionsDir: join(folder, "sessions"),
      warm: 0,
      allowPrivateHosts: [sites.privateHost],
      log: quiet,
    });
    const { ca_bundle: authorities, host, port } = sites.proxy.config;
    instance = await placement.acquire({ session_id: "login", timeout_seconds: 3600, authorities }, undefined, {
      upstream: { url: `http://${host}:${String(port)}`, bypassHosts: [], authorities },
    });
    page = pageOf(new FrontPage(instance));
  });
  afterAll(async () => {
    await placement.close();
    await sites.close();
    await rm(folder, { recursive: true, force: true });
  });

  function loginOn(
    login: SiteLogin,
    { plan, values = login.values }: { plan?: LoginPlan; values?: SiteLogin["values"] } = {},
  ): Login {
    const { allowedDomains, path, site, ssoProvider, totpSecret } = login;
    const stored = new Map(Object.entries(values));
    return new Login({
      page: plan === undefined && values === login.values ? savingPage(site) : page,
      startUrl: sites.url(site, path),
      hosts: allowedHosts(`${site}.test`, allowedDomains),
      provider: ssoProvider,
      plan,
      values: (name) =>
        Promise.resolve(name === "otp" && totpSecret !== undefined ? totpCode(totpSecret) : stored.get(name)),
    });
  }

  const checkedOn = ({ allowedDomains, site }: SiteLogin, plan: LoginPlan): Promise<CheckVerdict> =>
    checkSignedIn(page, { plan, hosts: allowedHosts(`${site}.test`, allowedDomains) });

  const textOf = async (): Promise<string> => {
    const { frames, nodes } = (await page.read()).outline;
    return `${frames[0]?.title ?? ""}\n${nodes.map(({ name }) => name).join("\n")}`;
  };

  const withPassword = logins.filter(
    ({ alreadySignedIn, values }) => values.password !== undefined && alreadySignedIn !== true,
  );

  it.each(withPassword.map((login) => [login.site, login] as const))(
    "reports the words of %s about a wrong password, which it types once",
    async (_site, login) => {
      const site = sites.site(login.accountsOf ?? login.site);
      const before = site.attempts().length;
      const engine = loginOn(login, { values: { ...login.values, password: "Wrong-0000" } });
      const outcome = await runWithPerson(engine, login);
      expect(outcome).toMatchObject({ kind: "failed", code: "credentials_invalid" });
      if (login.keepsSessions !== false)
        expect(outcome).toMatchObject({ message: expect.stringContaining(login.refused) as unknown });
      expect(site.attempts().length - before).toBeLessThanOrEqual(1);
    },
  );

  it.each(logins.map((login) => [login.site, login] as const))("signs in to %s", async (_site, login) => {
    const engine = loginOn(login);
    const outcome = await runWithPerson(engine, login);
    expect([outcome, await textOf()]).toMatchObject([
      { kind: "signed_in" },
      expect.stringContaining(login.signedIn) as unknown,
    ]);
    expect(JSON.stringify(engine.state)).not.toContain(login.values.password ?? "no password");
    if (login.keepsSessions === false || outcome.kind !== "signed_in") return;
    expect(await checkedOn(login, outcome.plan)).toMatchObject({ status: "signed_in" });
    sites.site(login.accountsOf ?? login.site).expireSessions();
    sites.site("accounts.google.com").expireSessions();
    const { status } = await checkedOn(login, outcome.plan);
    expect(status).toBe(login.alreadySignedIn === true ? "signed_in" : "signed_out");
  });

  // The login above changed the password of forced-change, and Chromium keeps the answer to HTTP Basic.
  const byPerson = withPassword.filter(
    ({ keepsSessions, needs }) => keepsSessions !== false && !needs.includes("new_password"),
  );
  it.each(byPerson.map((login) => [login.site, login] as const))(
    "signs in to %s with the answers of a person",
    async (_site, login) => {
      const site = sites.site(login.accountsOf ?? login.site);
      site.expireSessions();
      await page.act({ kind: "goto", url: "about:blank", hosts: [] });
      const engine = loginOn(login, { values: {} });
      const outcome = await runWithPerson(engine, login);
      expect([outcome, await textOf()]).toMatchObject([
        { kind: "signed_in" },
        expect.stringContaining(login.signedIn) as unknown,
      ]);
    },
  );

  it("repeats a login with its plan, on a page without a word", async () => {
    const login = logins.find(({ site }) => site === "bare") ?? expect.fail();
    sites.site(login.site).expireSessions();
    const first = await loginOn(login).run();
    const plan = first.kind === "signed_in" ? first.plan : expect.fail(JSON.stringify(first));
    expect(plan.steps).toMatchObject([{ fields: [{ kind: "username" }, { kind: "password" }] }]);
    expect(JSON.stringify(plan)).not.toContain(login.values.password);
    sites.site(login.site).expireSessions();
    expect(await loginOn(login, { plan }).run()).toMatchObject({ kind: "signed_in" });
  });

  it("has no result about the login on a site that cannot be reached", async () => {
    const login = logins.find(({ site }) => site === "expiring") ?? expect.fail();
    const outcome = await loginOn(login).run();
    const plan = outcome.kind === "signed_in" ? outcome.plan : expect.fail(JSON.stringify(outcome));
    sites.setOnline(login.site, false);
    expect(await checkedOn(login, plan)).toMatchObject({ status: "unknown" });
    sites.setOnline(login.site, true);
    expect(await checkedOn(login, plan)).toMatchObject({ status: "signed_in" });
  });

  it.each(deadEnds.map((end) => [`${end.site}${end.path}`, end] as const))(
    "recognizes that %s has no login",
    async (_name, { error, path, site }) => {
      const engine = new Login({
        page: savingPage(site),
        startUrl: sites.url(site, path),
        hosts: allowedHosts(`${site}.test`),
        values: () => Promise.resolve("never-typed"),
      });
      expect(await engine.run()).toMatchObject({ kind: "failed", code: error });
    },
  );

  async function runWithPerson(engine: Login, login: SiteLogin): Promise<LoginOutcome> {
    let outcome = await engine.run();
    for (let round = 0; outcome.kind === "needs" && round < maxAnswers; round++) {
      let answers = await personAnswers(login, outcome);
      const waits = outcome.external !== undefined;
      outcome = await eventually("the page notices the person's action", async () => {
        const next = await engine.run(answers);
        answers = {};
        return waits && next.kind === "needs" && next.external !== undefined ? undefined : next;
      });
    }
    return outcome;
  }

  async function personAnswers(login: SiteLogin, need: LoginNeed): Promise<LoginAnswers> {
    const site = sites.site(login.accountsOf ?? login.site);
    const choice = chosenBy(login, need);
    if (need.fields.length === 0 && need.external === undefined && choice !== undefined) return { choice: choice.id };
    const values: Record<string, string> = {};
    for (const { name } of need.fields) {
      const stored = storedFor(login, name);
      if (stored !== undefined) values[name] = stored;
      if (name.startsWith("otp"))
        values[name] = login.totpSecret === undefined ? (site.lastCode() ?? "") : totpCode(login.totpSecret);
      if (name === "link") values[name] = site.lastLink() ?? "";
      if (name.startsWith("new_password")) values[name] = "Atlas-New-2026!";
    }
    if (need.external?.type === "push") sites.push.approve(/\b\d\d\b/.exec(need.external.message)?.[0] ?? "");
    if (need.external?.type === "captcha") await solveCaptcha();
    return { values };
  }

  function chosenBy({ needs, ssoProvider, values }: SiteLogin, { choices }: LoginNeed) {
    const wanted = ({ provider, target }: LoginNeed["choices"][number]): boolean =>
      (provider !== undefined && provider === ssoProvider) || (target !== undefined && target === values.email);
    const factor = needs.includes("other_way") ? "password" : "sms";
    return choices.find(wanted) ?? choices.find((choice) => choice.factor === factor);
  }

  /** The person knows the one identifier of the site, however the page names it. */
  function storedFor({ values }: SiteLogin, name: string): string | undefined {
    const isIdentifier = ["username", "email", "phone"].includes(name);
    return values[name] ?? (isIdentifier ? (values.username ?? values.email ?? values.phone) : undefined);
  }

  async function solveCaptcha(): Promise<void> {
    const click = async (fits: (name: string) => boolean): Promise<void> => {
      const { nodes } = (await page.read()).outline;
      const node = nodes.find(({ name, role }) => role !== "text" && fits(name)) ?? expect.fail(JSON.stringify(nodes));
      await page.act({ kind: "click", ref: node.ref });
      await page.settle({ quiet_ms: 300, timeout_ms: 5_000 });
    };
    await click((name) => name.includes("hCaptcha checkbox"));
    await eventually("the captcha shows its pictures", async () => (await textOf()).includes("click each image"));
    const { frames, nodes } = (await page.read()).outline;
    const frame = frames.findIndex(({ url }) => url.includes("/challenge"));
    const tiles = nodes.filter(
      (node) => node.frame === frame && node.hidden === undefined && node.role !== "text" && !/verify/i.test(node.name),
    );
    for (const number of sites.captcha.solution()) {
      const tile = tiles[number] ?? expect.fail(JSON.stringify(nodes.filter((node) => node.frame === frame)));
      await page.act({ kind: "click", ref: tile.ref });
    }
    await click((name) => /verify/i.test(name));
  }
});
