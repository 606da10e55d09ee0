import pLimit from "p-limit";
import { ServiceError } from "@shoal/router";
import { CdpError, type CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { findVisiblePage } from "../../browser/pages/visible-page.ts";
import { browserGone, openPageSession, type PageSession } from "./page-session.ts";
import { PageView } from "./page-view.ts";
import type { Screen, View } from "../../browser/input/screen.ts";

/** The page stays attached between calls, because a drag or a held button lasts longer than one call. */
export function createPageScreen(browser: Pick<BrowserSupervisor, "cdp">): Screen {
  let held: { readonly session: PageSession; readonly view: View } | undefined;
  const oneAtATime = pLimit(1);

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
      if (held !== undefined && !held.session.ended && held.session.cdp === cdp && held.session.targetId === targetId)
        return held.view;
      const old = held?.session;
      held = undefined;
      void old?.close();
      if (targetId === undefined)
        throw new ServiceError(409, "conflict", "No page is open.", {
          hint: "Open one over CDP, or with browsers.playwright.execute.",
        });
      const session = await openPageSession(cdp, targetId);
      held = { session, view: new PageView(session) };
      return held.view;
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
      // The page was closed or the browser crashed between two commands; nothing was done yet.
      if (mayTryAgain) return await look(false);
      throw browserGone(error);
    }
  }

  return {
    // One call at a time: concurrent calls would attach twice.
    look() {
      return oneAtATime(look);
    },
    // No pointer is drawn on a headless page.
    showPointer: () => undefined,
  };
}
