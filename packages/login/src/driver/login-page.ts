import type { PageAct, PageActResult, PageOutline, SettledPage } from "@shoal/instance";

/** A page of a browser, as the instance's control endpoints offer it. */
export interface LoginPage {
  outline(): Promise<PageOutline>;
  act(act: PageAct): Promise<PageActResult>;
  settle(wishes: { readonly quiet_ms: number; readonly timeout_ms: number }): Promise<SettledPage>;
}
