import { waitLimitMs } from "@shoal/testkit";
import { chromium, type Browser, type Page } from "playwright-core";
import type { Page as PuppeteerPage } from "puppeteer-core";
import { afterAll, beforeAll } from "vitest";
import type { TestService } from "./service.ts";
import type { TestSession } from "./session.ts";

/** The session's page. Chromium may report it a moment after the connection. */
export async function firstPageOf(client: Browser): Promise<Page> {
  const [context] = client.contexts();
  if (context === undefined) throw new Error("The session has no default context.");
  return context.pages()[0] ?? context.waitForEvent("page");
}

/** Chromium ends a navigation with `ERR_NETWORK_CHANGED` if it learns of its network late; the next navigation is judged. */
export async function navigationFailure(page: PuppeteerPage, url: string): Promise<string> {
  for (;;) {
    const failure = await page.goto(url, { timeout: waitLimitMs }).then(
      () => "The page loaded.",
      (error: unknown) => String(error),
    );
    if (!failure.includes("net::ERR_NETWORK_CHANGED")) return failure;
  }
}

/** For all tests of the surrounding `describe`. @param opened - receives the session's page. */
export function usePage(test: TestService, session: Pick<TestSession, "id">, opened: (page: Page) => void): void {
  let client: Browser | undefined;
  beforeAll(async () => {
    client = await chromium.connectOverCDP((await test.shoal.browsers.get(session.id)).cdp_ws_url);
    opened(await firstPageOf(client));
  });
  afterAll(async () => {
    await client?.close();
  });
}
