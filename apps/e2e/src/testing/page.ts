import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { TestService } from "./service.ts";
import type { TestSession } from "./session.ts";

/** For all tests of the surrounding `describe`. @param opened - receives the session's page. */
export function usePage(test: TestService, session: Pick<TestSession, "id">, opened: (page: Page) => void): void {
  let client: Browser | undefined;
  beforeAll(async () => {
    client = await chromium.connectOverCDP((await test.shoal.browsers.get(session.id)).cdp_ws_url);
    const page = client.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error("The session has no page.");
    opened(page);
  }, 60_000);
  afterAll(async () => {
    await client?.close();
  });
}
