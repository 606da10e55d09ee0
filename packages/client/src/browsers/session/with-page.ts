// Programs without playwright-core get `any`; they cannot call `withPage` either.
/* oxlint-disable-next-line typescript/ban-ts-comment -- an error is expected in those programs only */
/** @ts-ignore A page of Playwright. */
export type PlaywrightPage = import("playwright-core").Page;

interface Context {
  pages(): PlaywrightPage[];
  newPage(): Promise<PlaywrightPage>;
  newCDPSession(page: PlaywrightPage): Promise<{
    send(method: "Target.getTargetInfo"): Promise<{ readonly targetInfo: { readonly targetId: string } }>;
    detach(): Promise<void>;
  }>;
}

interface Playwright {
  readonly chromium: {
    connectOverCDP(url: string): Promise<{ contexts(): Context[]; close(): Promise<void> }>;
  };
}

/** A session to which Playwright connects. */
export interface PageSource {
  readonly cdpUrl: string;
  /** The target of the tab in front; `undefined` if the service does not tell it. */
  readonly frontTarget: () => Promise<string | undefined>;
}

/** Connects Playwright to a session, and disconnects at the end. @throws {Error} without playwright-core. */
export async function withPlaywrightPage<T>(
  { cdpUrl, frontTarget }: PageSource,
  use: (page: PlaywrightPage) => Promise<T> | T,
): Promise<T> {
  const browser = await (await loadPlaywright()).chromium.connectOverCDP(cdpUrl);
  try {
    const [context] = browser.contexts();
    if (context === undefined) throw new Error("The session has no browser context.");
    return await use((await frontPage(context, frontTarget)) ?? (await context.newPage()));
  } finally {
    await browser.close();
  }
}

async function frontPage(
  context: Context,
  frontTarget: PageSource["frontTarget"],
): Promise<PlaywrightPage | undefined> {
  const pages = context.pages();
  if (pages.length < 2) return pages[0];
  const front = await frontTarget();
  for (const page of pages) if (front !== undefined && (await targetOf(context, page)) === front) return page;
  return pages[0];
}

async function targetOf(context: Context, page: PlaywrightPage): Promise<string | undefined> {
  // The page may close at this moment.
  try {
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send("Target.getTargetInfo");
    await session.detach();
    return targetInfo.targetId;
  } catch {
    return undefined;
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
