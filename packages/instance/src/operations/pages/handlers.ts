import type { observePage } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { SessionPages } from "./tabs/session-pages.ts";

export interface PagesArea {
  readonly handlers: Handlers<{ observePage: typeof observePage }>;
  close(): Promise<void>;
}

/** The first call loads the code. */
export function pagesArea(browser: Pick<BrowserSupervisor, "cdp">): PagesArea {
  let created: Promise<SessionPages> | undefined;
  async function create(): Promise<SessionPages> {
    const { SessionPages, readElements } = await import("./page-parts.ts");
    return new SessionPages(browser, readElements);
  }
  const load = (): Promise<SessionPages> => (created ??= create());
  return {
    handlers: {
      async observePage({ body }) {
        const [pages, { observe }] = await Promise.all([load(), import("./page-parts.ts")]);
        return observe(pages, body);
      },
    },
    async close() {
      await (await created)?.close();
    },
  };
}
