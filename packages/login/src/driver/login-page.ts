import type { PageAct, PageActResult, SettledPage } from "@shoal/instance";
import type { PageSight } from "../reading/read-sight.ts";

/** A page of a browser, by the instance's control endpoints. */
export interface LoginPage {
  /** Reads the page as it is now, on another thread: see `readSight`. @param status - of the page's response. */
  read(status?: number): Promise<PageSight>;
  act(act: PageAct): Promise<PageActResult>;
  settle(wishes: { readonly quiet_ms: number; readonly timeout_ms: number }): Promise<SettledPage>;
}
