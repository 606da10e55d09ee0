import {
  type BenchPage,
  ByHand,
  clickTimes,
  compare,
  type Driver,
  fullSizes,
  letters,
  type Lives,
  type Pair,
  quickSizes,
  serveSite,
  type Side,
} from "@shoal/cli/bench";
import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { findChromium } from "@shoal/placement";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Figure } from "../measuring/figures.ts";

/** `connectOverCDP` of Playwright on both sides, as public harnesses use it. */
class PlaywrightDriver implements Driver {
  async connect(cdpUrl: string): Promise<BenchPage> {
    const browser = await chromium.connectOverCDP(cdpUrl);
    const context = browser.contexts()[0] ?? (await browser.newContext());
    return new PlaywrightPage(browser, context.pages()[0] ?? (await context.newPage()));
  }
}

class PlaywrightPage implements BenchPage {
  readonly #browser: Browser;
  readonly #page: Page;

  constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.#page = page;
  }

  async goto(url: string): Promise<void> {
    await this.#page.goto(url, { waitUntil: "domcontentloaded" });
  }

  async tenActions(): Promise<void> {
    const field = this.#page.locator("#field");
    for (let click = 0; click < clickTimes; click++) await this.#page.locator("#more").click();
    for (const letter of letters) await field.pressSequentially(letter);
    const count = await this.#page.locator("#count").textContent();
    const value = await field.inputValue();
    if (count !== String(clickTimes) || value !== letters || (await this.#page.title()) !== "bench")
      throw new Error("The actions had no effect.");
    await this.#page.screenshot({ type: "jpeg", quality: 60 });
  }

  async disconnect(): Promise<void> {
    await this.#browser.close();
  }
}

/** Ten lives to warm up, then a hundred, one and ten at a time; actions a second; successes of sessions at once. */
export async function measureHarness(isQuick: boolean): Promise<Figure[]> {
  const found = await findChromium({});
  if (!found) throw new Error("No Chromium on this machine.");
  const site = await serveSite();
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const byHand = new ByHand(found.executable);
  try {
    const service = await startService(join(folder, "data"), [
      "--allow-private-hosts",
      site.host,
      "--max-sessions",
      "100",
      "--max-sessions-per-project",
      "100",
      "--log-level",
      "warn",
    ]);
    try {
      const { actions, lives, together } = await compare({
        shoal: sessionsOf(new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey })),
        byHand,
        driver: new PlaywrightDriver(),
        url: site.url,
        sizes: isQuick ? quickSizes : fullSizes,
        signal: new AbortController().signal,
        onStep: () => undefined,
      });
      const peerName = `${found.kind} by hand`;
      return [
        ...lives.flatMap((pair) => livesFigures(pair, peerName)),
        figure("page actions", "/s", peerName, [actions.shoal.per_second, actions.by_hand?.per_second]),
        ...together.flatMap(({ by_hand: peer, shoal }) => [
          figure(`${String(shoal.at_once)} at once, successes of ${String(shoal.attempts)}`, "", peerName, [
            shoal.successes,
            peer?.successes,
          ]),
          figure(`${String(shoal.at_once)} at once, median`, "ms", peerName, [shoal.median_ms, peer?.median_ms]),
        ]),
      ];
    } finally {
      await service.stop();
    }
  } finally {
    await byHand.close();
    site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function sessionsOf(shoal: Shoal): Side {
  return {
    async open() {
      const session = await shoal.browsers.create();
      return { cdpUrl: session.cdp_ws_url, close: () => shoal.browsers.delete(session.session_id) };
    },
  };
}

function livesFigures({ by_hand: peer, shoal }: Pair<Lives>, peerName: string): Figure[] {
  const at = `${String(shoal.at_once)} at a time`;
  return [
    figure(`${at}, median`, "ms", peerName, [shoal.median_ms, peer?.median_ms]),
    figure(`${at}, p95`, "ms", peerName, [shoal.p95_ms, peer?.p95_ms]),
    ...(["create", "connect", "goto", "release"] as const).map((step) =>
      figure(`${at}, ${step}, median`, "ms", peerName, [shoal[`${step}_ms`], peer?.[`${step}_ms`]]),
    ),
    {
      ...figure(`${at}, lives`, "/s", peerName, [shoal.per_second, peer?.per_second]),
      ...(shoal.at_once > 1 && { target: ">= 0.9" }),
    },
  ];
}

function figure(
  name: string,
  unit: string,
  peerName: string,
  [ours, peer]: readonly [number, number | undefined],
): Figure {
  return { name, unit, ours, ...(peer !== undefined && { peer, peerName }) };
}
