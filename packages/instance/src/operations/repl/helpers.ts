import { writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Dialog, Locator, Page } from "playwright-core";
import { type CdpEvent, isReal, type ReplBrowser } from "./repl-browser.ts";

/** A node of {@link accessibilitySnapshot}. */
interface SnapshotNode {
  readonly role: string;
  readonly name?: string;
  readonly ref?: string;
  readonly [property: string]: unknown;
}
interface Point {
  readonly x: number;
  readonly y: number;
}
/** A selector, a node of a snapshot, or a point of the page. */
type Target = string | SnapshotNode | Point;
interface Waiting {
  readonly timeoutSec?: number;
}

const actionSeconds = 10;
const ms = (seconds: number): number => seconds * 1000;

function isPoint(target: Target): target is Point {
  return (
    typeof target === "object" && typeof target.x === "number" && typeof target.y === "number" && !("role" in target)
  );
}

function locate(page: Page, target: Target): Locator {
  if (typeof target === "string") return page.locator(target);
  if (!isPoint(target) && typeof target.ref === "string") return page.locator(`aria-ref=${target.ref}`);
  throw new TypeError("Expected a selector, or a node of accessibilitySnapshot() with a ref.");
}

/** Whether work ended before its timeout. */
async function inTime(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") return false;
    throw error;
  }
}

/** Functions for the code of `browsers.repl`. */
export function helpersOf(browser: ReplBrowser) {
  return { ...pageHelpers(browser), ...inputHelpers(browser), ...tabHelpers(browser), ...rawHelpers(browser) };
}

function pageHelpers(browser: ReplBrowser) {
  return {
    async gotoUrl(url: string, { timeoutSec = 30 }: Waiting = {}) {
      const page = await browser.page();
      const response = await page.goto(url, { timeout: ms(timeoutSec) });
      return { url: page.url(), title: await page.title(), status: response?.status() };
    },
    async pageInfo() {
      const page = await browser.page();
      const known = browser.dialog(page);
      if (known !== undefined && (await isOpen(page))) return infoOf(page, known);
      // A page with a dialog does not answer, also if it opens now.
      const opened = Promise.withResolvers<Dialog>();
      page.once("dialog", opened.resolve);
      try {
        return await Promise.race([sizesOf(page), opened.promise.then((dialog) => infoOf(page, dialog))]);
      } finally {
        page.off("dialog", opened.resolve);
      }
    },
    async accessibilitySnapshot() {
      const page = await browser.page();
      const tree: unknown = await page.ariaSnapshotJSON({ mode: "ai" });
      return { title: await page.title(), url: page.url(), nodes: flatten(tree) };
    },
    waitMs: (time: number) => wait(time),
    waitForLoad: async ({ timeoutSec = 15 }: Waiting = {}) =>
      inTime((await browser.page()).waitForLoadState("load", { timeout: ms(timeoutSec) })),
    waitForNetworkIdle: async ({ timeoutSec = 10 }: Waiting = {}) =>
      inTime((await browser.page()).waitForLoadState("networkidle", { timeout: ms(timeoutSec) })),
    async waitForElement(
      target: Target,
      {
        state = "visible",
        timeoutSec = actionSeconds,
      }: Waiting & { state?: "attached" | "detached" | "visible" | "hidden" } = {},
    ) {
      const found = locate(await browser.page(), target).first();
      return inTime(found.waitFor({ state, timeout: ms(timeoutSec) }));
    },
    async waitForEvent(method: string, { timeoutSec = 30 }: Waiting = {}) {
      const happened = Promise.withResolvers<CdpEvent>();
      const end = await browser.onEvent((event) => {
        if (event.method === method) happened.resolve(event);
      });
      const late = setTimeout(() => {
        happened.reject(new Error(`${method} did not happen within ${String(timeoutSec)} s.`));
      }, ms(timeoutSec));
      try {
        return (await happened.promise).params;
      } finally {
        clearTimeout(late);
        end();
      }
    },
  };
}

function infoOf(page: Page, dialog: Dialog) {
  return { url: page.url(), dialog: { type: dialog.type(), message: dialog.message() } };
}

async function sizesOf(page: Page) {
  const sizes = await page.evaluate(() => ({
    w: innerWidth,
    h: innerHeight,
    sx: scrollX,
    sy: scrollY,
    pw: document.documentElement.scrollWidth,
    ph: document.documentElement.scrollHeight,
  }));
  return { url: page.url(), title: await page.title(), ...sizes };
}

/** A page with an open dialog runs no scripts. */
async function isOpen(page: Page): Promise<boolean> {
  const silent = Symbol("silent");
  return (await Promise.race([page.evaluate("1").catch(() => silent), wait(500, silent)])) === silent;
}

function flatten(tree: unknown): SnapshotNode[] {
  if (Array.isArray(tree)) return tree.flatMap(flatten);
  if (typeof tree !== "object" || tree === null) return [];
  const { children, ...node } = tree as SnapshotNode;
  return [node, ...flatten(children)];
}

function inputHelpers(browser: ReplBrowser) {
  return {
    async click(
      target: Target,
      {
        timeoutSec = actionSeconds,
        ...options
      }: Waiting & { button?: "left" | "middle" | "right"; clickCount?: number } = {},
    ) {
      const page = await browser.page();
      if (isPoint(target)) await page.mouse.click(target.x, target.y, options);
      else await locate(page, target).click({ ...options, timeout: ms(timeoutSec) });
    },
    fillInput: async (target: Target, text: string, { timeoutSec = actionSeconds }: Waiting = {}) =>
      locate(await browser.page(), target).fill(text, { timeout: ms(timeoutSec) }),
    typeText: async (text: string) => (await browser.page()).keyboard.type(text),
    pressKey: async (key: string) => (await browser.page()).keyboard.press(key),
    async scroll({ x, y, dx = 0, dy = 300 }: { x?: number; y?: number; dx?: number; dy?: number } = {}) {
      const page = await browser.page();
      const middle = await page.evaluate(() => ({ x: innerWidth / 2, y: innerHeight / 2 }));
      await page.mouse.move(x ?? middle.x, y ?? middle.y);
      await page.mouse.wheel(dx, dy);
    },
    uploadFile: async (target: Target, paths: string | readonly string[]) =>
      locate(await browser.page(), target).setInputFiles(paths, { timeout: ms(actionSeconds) }),
  };
}

function tabHelpers(browser: ReplBrowser) {
  async function describe({ page, targetId }: Awaited<ReturnType<ReplBrowser["tab"]>>) {
    return { targetId, url: page.url(), title: await page.title().catch(() => "") };
  }
  return {
    async listTabs() {
      return Promise.all((await browser.tabs()).map(describe));
    },
    currentTab: async () => describe(await browser.tab()),
    switchTab: async (targetId: string) => describe(await browser.choose(targetId)),
    async newTab(url?: string) {
      const { page, targetId } = await browser.open();
      if (url !== undefined) await page.goto(url);
      return targetId;
    },
    async closeTab(targetId?: string) {
      const tabs = targetId === undefined ? [await browser.tab()] : await browser.tabs();
      const tab = tabs.find((known) => targetId === undefined || known.targetId === targetId);
      if (tab === undefined) throw new Error(`No tab has the target ${String(targetId)}. List them with listTabs().`);
      // The browser would end with its last tab.
      if ((await browser.tabs()).length < 2) await browser.open();
      await tab.page.close();
    },
    async ensureRealTab() {
      const current = await browser.tab();
      if (isReal(current.page.url())) return describe(current);
      const real = (await browser.tabs()).find(({ page }) => isReal(page.url()));
      return describe(real === undefined ? await browser.open() : await browser.choose(real.targetId));
    },
    async iframeTarget(part: string) {
      return (await browser.frameTargets()).find(({ frame }) => frame.url().includes(part))?.targetId ?? null;
    },
  };
}

function rawHelpers(browser: ReplBrowser) {
  return {
    async js(
      code: string | ((argument: unknown) => unknown),
      { arg, targetId }: { arg?: unknown; targetId?: string } = {},
    ) {
      return (await scopeOf(browser, targetId)).evaluate(code as (argument: unknown) => unknown, arg);
    },
    cdp: (method: string, params?: object) => browser.send(method, params),
    drainEvents: () => browser.drainEvents(),
    async captureScreenshot(path = "/tmp/screenshot.png", full = false, maxDim?: number) {
      const page = await browser.page();
      const picture = maxDim === undefined ? page.screenshot({ fullPage: full }) : shrunk(browser, full, maxDim);
      await writeFile(path, await picture);
      return path;
    },
    async httpGet(url: string, { headers = {}, timeoutSec = 20 }: Waiting & { headers?: Record<string, string> } = {}) {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(ms(timeoutSec)) });
      return response.text();
    },
  };
}

/** The current tab, another one, or a frame in another process. */
async function scopeOf(browser: ReplBrowser, targetId: string | undefined) {
  if (targetId === undefined) return browser.page();
  const tab = (await browser.tabs()).find((known) => known.targetId === targetId);
  const frame = tab ? undefined : (await browser.frameTargets()).find((known) => known.targetId === targetId);
  const found = tab?.page ?? frame?.frame;
  if (found === undefined) throw new Error(`No tab or frame has the target ${targetId}.`);
  return found;
}

interface LayoutMetrics {
  readonly cssVisualViewport: Record<"pageX" | "pageY" | "clientWidth" | "clientHeight", number>;
  readonly cssContentSize: Record<"x" | "y" | "width" | "height", number>;
}

/** @param maxDim - the longest side, in pixels. */
async function shrunk(browser: ReplBrowser, full: boolean, maxDim: number): Promise<Buffer> {
  const { cssContentSize, cssVisualViewport } = (await browser.send("Page.getLayoutMetrics")) as LayoutMetrics;
  const { clientHeight: height, clientWidth: width, pageX: x, pageY: y } = cssVisualViewport;
  const area = full ? cssContentSize : { x, y, width, height };
  const clip = { ...area, scale: Math.min(1, maxDim / Math.max(area.width, area.height)) };
  const { data } = (await browser.send("Page.captureScreenshot", { clip, captureBeyondViewport: full })) as {
    data: string;
  };
  return Buffer.from(data, "base64");
}
