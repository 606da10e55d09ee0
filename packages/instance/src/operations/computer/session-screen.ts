import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { SessionDisplay } from "../../browser/display/session-display.ts";
import { createPageScreen } from "./page-screen.ts";
import { browserGone } from "./page-session.ts";
import { createScreenView } from "./screen-view.ts";
import type { Screen, View } from "../../browser/input/screen.ts";

/** `display`: of the present browser; `undefined` while it has none. */
export function createSessionScreen(
  browser: Pick<BrowserSupervisor, "cdp">,
  display: () => SessionDisplay | undefined,
): Screen {
  const page = createPageScreen(browser);
  let pointerVisible = true;
  let held: { readonly display: SessionDisplay; readonly view: View } | undefined;
  return {
    async look() {
      try {
        await browser.cdp();
      } catch (error) {
        throw browserGone(error);
      }
      const present = display();
      if (present === undefined) return page.look();
      if (held?.display !== present)
        held = {
          display: present,
          view: createScreenView({ display: present, page, pointerVisible: () => pointerVisible }),
        };
      return held.view;
    },
    showPointer(visible) {
      pointerVisible = visible;
    },
  };
}
