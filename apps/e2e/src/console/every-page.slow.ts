import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { fillLists, openDetails, openSection, type ShownSection, sectionsOf } from "./every-section.ts";
import { phone, showIn, usePerson, violationsOf, widthOf } from "./open-console.ts";

const test = useService(() => ["--credential-provider-hosts", "vault.example.com"]);
const person = usePerson(test);
let details: readonly ShownSection[];
beforeAll(async () => {
  details = await fillLists(test.shoal);
  await test.shoal.projects.create({ name: "empty" });
});

/** Pages whose own tests check both color schemes on a phone. */
const checkedElsewhere = /^Session, (?:details|files|logs|processes)$/;

/** Sections without a list that fails as a whole. */
const withoutList = new Set(["Home", "Usage"]);

async function forEachSection(page: Page, check: (section: ShownSection) => Promise<void>): Promise<void> {
  for (const section of await sectionsOf(page)) await check(section);
}

it("shows every section to assistive technology, in light and dark, on a phone, without movement", async () => {
  const { page, problems } = await person.openSignedIn("", { colorScheme: "light", timezoneId: "Asia/Kolkata" });
  await page.addInitScript(() => {
    const moved = globalThis as unknown as { moved: number };
    moved.moved = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as readonly { value: number }[]) moved.moved += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await forEachSection(page, async ({ name, path }) => {
    await openSection(page, path);
    expect(await page.title(), name).toMatch(/ · Shoal$/);
    const moved = await page.evaluate(() => (globalThis as unknown as { moved: number }).moved);
    // The bound of a good page by Core Web Vitals.
    expect(moved, `${name} moves`).toBeLessThan(0.1);
    await expect.poll(() => violationsOf(page), { message: name }).toEqual([]);
    const times = await page
      .locator("main time[datetime]:visible")
      .evaluateAll((all: HTMLTimeElement[]) =>
        all.map((one) => [one.getAttribute("title") ?? one.innerText, one.dateTime] as const),
      );
    for (const [text, moment] of times) {
      const date = new Date(moment);
      const minutes = date.toLocaleTimeString("en", { timeZone: "Asia/Kolkata", minute: "2-digit" });
      expect(text, `${name} shows times in the reader's zone`).toContain(`:${minutes.padStart(2, "0")}`);
    }
    await showIn(page, "dark");
    await page.setViewportSize(phone);
    await expect.poll(() => widthOf(page), { message: name }).toBeLessThanOrEqual(phone.width);
    await expect.poll(() => violationsOf(page), { message: `${name} in dark, on a phone` }).toEqual([]);
    await showIn(page, "light");
    await page.setViewportSize({ width: 1280, height: 800 });
  });
  expect(problems).toEqual([]);
  await page.close();
});

it("shows the page of every resource to assistive technology, in light, and in dark on a phone", async () => {
  const { page, problems } = await person.openSignedIn();
  for (const { name, path } of details.filter(({ name }) => !checkedElsewhere.test(name))) {
    await openDetails(page, path);
    expect(await page.title(), name).toMatch(/ · Shoal$/);
    await expect.poll(() => violationsOf(page), { message: name }).toEqual([]);
    await showIn(page, "dark");
    await page.setViewportSize(phone);
    await expect.poll(() => widthOf(page), { message: name }).toBeLessThanOrEqual(phone.width);
    // The tabs of a session have one frame.
    if (!/^Session, (?!live)/.test(name))
      await expect.poll(() => violationsOf(page), { message: `${name} in dark, on a phone` }).toEqual([]);
    await showIn(page, "light");
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  // A live view ends when its tab is left.
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await page.close();
});

it("has icon buttons of at least 40 pixels on a phone", async () => {
  const { page, problems } = await person.openSignedIn("", { viewport: phone, hasTouch: true });
  const lists = ["", "sessions", "profiles", "pools", "proxies", "extensions", "credentials", "keys"];
  for (const path of [...lists, ...details.map((one) => one.path)]) {
    await openDetails(page, path);
    const small = () =>
      page.locator("button:visible").evaluateAll((buttons: HTMLElement[]) =>
        buttons
          .filter((one) => one.innerText.trim() === "" && one.ariaLabel !== null)
          .map((one) => ({ name: one.ariaLabel, box: one.getBoundingClientRect() }))
          .filter(({ box }) => box.width < 40 || box.height < 40)
          .map(({ name, box }) => `${name ?? ""}: ${String(box.width)} × ${String(box.height)}`),
      );
    await expect.poll(small, { message: path }).toEqual([]);
    await expect.poll(() => widthOf(page), { message: path }).toBeLessThanOrEqual(phone.width);
  }
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await page.close();
});

it("shows rows as cards where the menu of a tablet leaves little room, and as columns on a wide screen", async () => {
  const { page } = await person.openSignedIn("", { viewport: { width: 800, height: 1_000 } });
  await openSection(page, "audit");
  const cells = page.getByRole("table").getByRole("row").nth(1).getByRole("cell");
  const areBelow = async () => {
    const [first, second] = await Promise.all([cells.nth(0).boundingBox(), cells.nth(1).boundingBox()]);
    return first !== null && second !== null && second.y >= first.y + first.height;
  };
  await expect.poll(areBelow).toBe(true);
  await page.setViewportSize({ width: 1_440, height: 900 });
  await expect.poll(areBelow).toBe(false);
  await page.close();
});

it("reports a failure of the service on every section with a list, and reads it again on request", async () => {
  const { page } = await person.openSignedIn();
  let isBroken = false;
  await page.route(
    (url) => !url.pathname.startsWith("/console"),
    async (route) => {
      if (!isBroken) return route.fallback();
      return route.fulfill({ status: 400, json: { code: "bad_request", message: "The disk is on holiday." } });
    },
  );
  await forEachSection(page, async ({ name, path }) => {
    if (withoutList.has(name)) return;
    isBroken = true;
    await openSection(page, `${path}?project=empty`);
    const alerts = page.getByRole("main").getByRole("alert").filter({ hasText: "The disk is on holiday." });
    await alerts.first().waitFor();
    isBroken = false;
    // Some pages read more than their list.
    const again = alerts.getByRole("button", { name: "Try again" });
    await expect
      .poll(
        async () => {
          await again.evaluateAll((buttons: HTMLElement[]) => {
            buttons[0]?.focus();
          });
          await page.keyboard.press("Enter");
          return alerts.count();
        },
        { message: name },
      )
      .toBe(0);
  });
  await page.close();
});

it("opens, leaves and closes menus and dialogs of every section with the keyboard", async () => {
  const { page, problems } = await person.openSignedIn();
  await forEachSection(page, async ({ name, path }) => {
    await openSection(page, path);
    const menu = page
      .getByRole("main")
      .getByRole("button", { name: /^Actions for/ })
      .first();
    if ((await menu.count()) > 0) {
      await menu.focus();
      await page.keyboard.press("Enter");
      const items = page.getByRole("menuitem");
      await items.first().waitFor();
      // A key that comes while the menu opens does not reach its items.
      await expect
        .poll(
          async () => {
            await page.keyboard.press("ArrowDown");
            return items.evaluateAll((all) => all.includes(document.activeElement as HTMLElement));
          },
          { message: name },
        )
        .toBe(true);
      await page.keyboard.press("Escape");
      await items.first().waitFor({ state: "hidden" });
      await expect.poll(() => menu.evaluate((one) => one === document.activeElement), { message: name }).toBe(true);
    }
    const create = page.getByRole("main").getByRole("button", { name: /^New / }).first();
    if ((await create.count()) === 0) return;
    await create.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await expect
      .poll(() => dialog.evaluate((one) => one.contains(document.activeElement)), { message: name })
      .toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await expect.poll(() => create.evaluate((one) => one === document.activeElement), { message: name }).toBe(true);
  });
  expect(problems).toEqual([]);
  await page.close();
});
