// Programs without playwright-core get `any`; they cannot call `withPage` either.
/* oxlint-disable-next-line typescript/ban-ts-comment -- an error is expected in those programs only */
/** @ts-ignore A page of Playwright. */
export type PlaywrightPage = import("playwright-core").Page;

interface Playwright {
  readonly chromium: {
    connectOverCDP(url: string): Promise<{
      contexts(): { pages(): PlaywrightPage[]; newPage(): Promise<PlaywrightPage> }[];
      close(): Promise<void>;
    }>;
  };
}

/** Connects Playwright to a session, and disconnects at the end. @throws {Error} without playwright-core. */
export async function withPlaywrightPage<T>(cdpUrl: string, use: (page: PlaywrightPage) => Promise<T> | T): Promise<T> {
  const browser = await (await loadPlaywright()).chromium.connectOverCDP(cdpUrl);
  try {
    const [context] = browser.contexts();
    if (context === undefined) throw new Error("The session has no browser context.");
    return await use(context.pages()[0] ?? (await context.newPage()));
  } finally {
    await browser.close();
  }
}

async function loadPlaywright(): Promise<Playwright> {
  // A variable, so that bundlers do not look for a package that the program may not have.
  for (const name of ["playwright-core", "playwright"]) {
    try {
      return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as Playwright;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    }
  }
  throw new Error("withPage needs playwright-core. Install it: npm install playwright-core");
}
