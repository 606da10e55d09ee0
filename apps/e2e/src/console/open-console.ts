import { waitLimitMs } from "@shoal/testkit";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchPerson } from "../testing/person.ts";
import type { TestService } from "../testing/service.ts";

export const phone = { width: 390, height: 844 };

export interface OpenedConsole {
  readonly page: Page;
  /** Violations of the security policy, and errors of scripts. */
  readonly problems: string[];
}

/** A page of the console, signed out. */
export async function openConsole(
  person: Browser,
  baseUrl: string,
  { path = "", ...options }: { readonly path?: string } & BrowserContextOptions = {},
): Promise<OpenedConsole> {
  const page = await person.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  // On a busy machine, a page may need longer than Playwright's 30 seconds.
  page.setDefaultTimeout(waitLimitMs);
  const problems: string[] = [];
  page.on("console", (message) => {
    // A signed-out person gets 401 for the session of the console, which Chromium logs.
    if (message.type() === "error" && !message.text().includes("status of 401")) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(`${baseUrl}/console/${path}`);
  return { page, problems };
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page
    .getByRole("navigation", { name: "Main" })
    .or(page.getByRole("button", { name: "Open the menu" }))
    .first()
    .waitFor();
}

/** Call it after `useService`. Read its fields inside tests only. */
export function usePerson(test: TestService) {
  let person: Browser | undefined;
  beforeAll(async () => {
    person = await launchPerson();
  });
  afterAll(() => person?.close());
  return {
    async open(path?: string, options?: BrowserContextOptions): Promise<OpenedConsole> {
      if (person === undefined) throw new Error("The person's browser runs inside tests only.");
      return openConsole(person, test.service.baseUrl, { ...(path !== undefined && { path }), ...options });
    },
    async openSignedIn(path?: string, options?: BrowserContextOptions): Promise<OpenedConsole> {
      const opened = await this.open(path, options);
      await signIn(opened.page, test.service.apiKey);
      return opened;
    },
  };
}

/** What assistive technology cannot use. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ exclude: ["iframe"] }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** Switches an open page to these colors, and waits until it shows them. */
export async function showIn(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  // Without transitions, whose first colors are the old ones.
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

export const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);
