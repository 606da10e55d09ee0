import type { Handlers } from "@shoal/router";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { pageControl } from "../../protocol/page-endpoints.ts";
import type { TypedSecrets } from "../../secrets/typed-secrets.ts";
import type { PageOperator } from "./page-operator.ts";

export interface PageArea {
  readonly handlers: Handlers<Pick<typeof pageControl, "actOnPage" | "outlinePage" | "releasePage" | "settlePage">>;
  /** Whether pages may contain secrets that the service or a person typed. */
  mayShowSecrets(): boolean;
  close(): Promise<void>;
}

/** The first call loads the code. */
export function pageArea(browser: Pick<BrowserSupervisor, "cdp">, secrets: Pick<TypedSecrets, "add">): PageArea {
  let operator: Promise<PageOperator> | undefined;
  let present: PageOperator | undefined;
  async function create(): Promise<PageOperator> {
    const loaded = await import("./page-operator.ts");
    present = new loaded.PageOperator(browser, secrets);
    return present;
  }
  const load = (): Promise<PageOperator> => (operator ??= create());
  async function release(): Promise<void> {
    await (await operator)?.release();
  }
  return {
    handlers: {
      outlinePage: async () => (await load()).outline(),
      actOnPage: async ({ body, signal }) => (await load()).act(body, signal),
      settlePage: async ({ body, signal }) => (await load()).settle(body, signal),
      releasePage: release,
    },
    mayShowSecrets: () => present?.mayShowSecrets === true,
    close: release,
  };
}
