import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { startSites, type Sites } from "@shoal/e2e/sites";
import { findChromium, locateFullChromium } from "@shoal/placement";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import type { Figure } from "../measuring/figures.ts";
import { interleaved, pairedRatio } from "../measuring/rounds.ts";

/** Signs in to the one-page site as a script does: the baseline of managed sign-in. */
async function signIn(page: Page, sites: Sites): Promise<void> {
  await page.goto(sites.url("one-page", "/login"));
  await page.locator("#inputEmail").fill("ada@example.com");
  await page.locator("#inputPassword").fill("paper-Boat-1815");
  await page.locator("button[type=submit]").click();
  await page.getByText("Welcome back, Ada Lovelace").waitFor();
}

/** The same from the start of a Chromium to its end. */
async function signInByHand(executablePath: string, sites: Sites): Promise<void> {
  const browser = await chromium.launch({
    executablePath,
    proxy: { server: `http://${sites.privateHost}` },
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  await signIn(await browser.newPage({ ignoreHTTPSErrors: true }), sites);
  await browser.close();
}

/** Connects a profile to the one-page site, with stored values. */
async function connect(shoal: Shoal, sites: Sites, browser: { proxyId: string; stealth: boolean }): Promise<string> {
  const name = `ada-${String(browser.stealth)}`;
  const values = { email: "ada@example.com", password: "paper-Boat-1815" };
  await shoal.credentials.create({ name, domain: "one-page.test", values });
  const { id } = await shoal.auth.connections.create({
    domain: "one-page.test",
    profile_name: name,
    login_url: sites.url("one-page", "/login"),
    browser: { proxy: { id: browser.proxyId }, stealth: browser.stealth },
    credential: { name },
    health_checks: false,
  });
  return id;
}

/** A managed login, until a client sees its success. */
async function signInByService(shoal: Shoal, sites: Sites, connectionId: string): Promise<void> {
  sites.site("one-page").expireSessions();
  await shoal.auth.connections.login(connectionId);
  let status: string | null | undefined;
  for await (const event of shoal.auth.connections.follow(connectionId))
    if (event.event === "managed_auth_state") status = event.flow_status;
  if (status !== "SUCCESS") throw new Error(`The login ended as ${String(status)}.`);
}

/** Measures logins on the one-page site, by the service and by a script in a session, against a script in an own Chromium. */
export async function measureSignIn(rounds: number): Promise<Figure[]> {
  const [found, full] = await Promise.all([findChromium({}), locateFullChromium()]);
  if (!found || !full) throw new Error("No headless shell, or no full Chromium, on this machine.");
  const dataDir = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const sites = await startSites();
  const flags = ["--warm", "1", "--log-level", "warn", "--allow-private-hosts", sites.privateHost];
  const service = await startService(dataDir, flags);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { id = "" } = await shoal.proxies.create(sites.proxy);
    const plainId = await connect(shoal, sites, { proxyId: id, stealth: false });
    const stealthId = await connect(shoal, sites, { proxyId: id, stealth: true });
    for (const connectionId of [plainId, stealthId]) await signInByService(shoal, sites, connectionId);
    const costs = await interleaved(rounds, {
      managed: () => signInByService(shoal, sites, plainId),
      stealth: () => signInByService(shoal, sites, stealthId),
      session: async () => {
        const session = await shoal.browsers.create({ proxy_id: id });
        const browser = await chromium.connectOverCDP(session.cdp_ws_url);
        const page = browser.contexts()[0]?.pages()[0];
        if (page === undefined) throw new Error("The session has no page.");
        await signIn(page, sites);
        await browser.close();
        await shoal.browsers.delete(session.session_id);
      },
      hand: () => signInByHand(found.executable, sites),
      handFull: () => signInByHand(full.executable, sites),
    });
    return [
      {
        name: "managed login with stored values, from the call to the saved profile, p50",
        unit: "ms",
        ours: costs.managed.wallMs,
        peer: costs.hand.wallMs,
        peerName: "a script in an own Chromium",
        ratio: pairedRatio(costs.managed, costs.hand, "wallMs"),
        target: "<= 2.5",
      },
      {
        name: "the same with stealth: a full Chromium, p50",
        unit: "ms",
        ours: costs.stealth.wallMs,
        peer: costs.handFull.wallMs,
        peerName: "a script in an own full Chromium",
        ratio: pairedRatio(costs.stealth, costs.handFull, "wallMs"),
        target: "<= 2.5",
      },
      {
        name: "script in a session, from create to delete, p50",
        unit: "ms",
        ours: costs.session.wallMs,
        peer: costs.hand.wallMs,
        peerName: "the script in an own Chromium",
        ratio: pairedRatio(costs.session, costs.hand, "wallMs"),
      },
    ];
  } finally {
    await service.stop();
    await sites.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
