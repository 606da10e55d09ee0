import type { observePage, readPage } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { PageReader } from "./read/page-reader.ts";
import type { SessionPages } from "./tabs/session-pages.ts";

export interface PagesArea {
  readonly handlers: Handlers<{ observePage: typeof observePage; readPage: typeof readPage }>;
  close(): Promise<void>;
}

interface Loaded {
  readonly pages: SessionPages;
  readonly reader: PageReader;
}

/** The first call loads the code. */
export function pagesArea(browser: Pick<BrowserSupervisor, "cdp">): PagesArea {
  let created: Promise<Loaded> | undefined;
  async function create(): Promise<Loaded> {
    const { PageReader, SessionPages, readElements } = await import("./page-parts.ts");
    const pages = new SessionPages(browser, readElements);
    return { pages, reader: new PageReader(pages) };
  }
  const load = (): Promise<Loaded> => (created ??= create());
  return {
    handlers: {
      async observePage({ body }) {
        const [{ pages }, { observe }] = await Promise.all([load(), import("./page-parts.ts")]);
        return observe(pages, body);
      },
      readPage: async ({ body }) => (await load()).reader.read(body),
    },
    async close() {
      const loaded = await created;
      await Promise.all([loaded?.pages.close(), loaded?.reader.close()]);
    },
  };
}
