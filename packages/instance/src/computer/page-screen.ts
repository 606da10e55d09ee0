import { ServiceError } from "@shoal/router";
import { CdpError, type CdpConnection } from "../cdp/pipe-connection.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { findVisiblePage } from "../pages/visible-page.ts";
import { browserGone, openPageSession, type PageSession } from "./page-session.ts";
import { createPageView } from "./page-view.ts";
import type { Screen, View } from "./screen.ts";

/** The visible page of a headless browser as its screen. The page in front stays attached, for a drag or a held button lasts longer than one call. */
export function createPageScreen(browser: Pick<BrowserSupervisor, "cdp">): Screen {
  let held: { readonly session: PageSession; readonly view: View } | undefined;
  let looking: Promise<unknown> = Promise.resolve();

  async function connection(): Promise<CdpConnection> {
    try {
      return await browser.cdp();
    } catch (error) {
      throw browserGone(error);
    }
  }

  async function look(mayTryAgain = true): Promise<View> {
    const cdp = await connection();
    try {
      const targetId = await findVisiblePage(cdp);
      if (held !== undefined && !held.session.ended && held.session.cdp === cdp && held.session.targetId === targetId) return held.view;
      const old = held?.session;
      held = undefined;
      void old?.close();
      if (targetId === undefined) throw new ServiceError(409, "conflict", "No page is open. Open one over CDP, or with browsers.playwright.execute.");
      const session = await openPageSession(cdp, targetId);
      held = { session, view: createPageView(session) };
      return held.view;
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
      // The page was closed, or the browser crashed, between two questions; nothing was done yet.
      if (mayTryAgain) return await look(false);
      throw browserGone(error);
    }
  }

  return {
    // One at a time: two at once would attach twice.
    look() {
      const looked = looking.then(() => look());
      looking = looked.catch(() => undefined);
      return looked;
    },
    // Nobody draws one.
    showPointer: () => undefined,
  };
}
