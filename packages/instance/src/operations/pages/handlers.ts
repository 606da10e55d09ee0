import type {
  actOnPage,
  callPageTool,
  listPageTools,
  observePage,
  printPage,
  readPage,
  screenshotPage,
} from "@shoal/contract";
import type { Handler, Handlers } from "@shoal/router";
import type { PageObservation } from "@shoal/schemas";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { EgressFailures } from "../../egress/failures.ts";
import type { pageControl } from "../../protocol/page-endpoints.ts";
import { type OfferedSecret, secretTicketHeader } from "../../protocol/offered-secret.ts";
import { OfferedSecrets } from "../../secrets/offered-secrets.ts";
import type { TypedSecrets } from "../../secrets/typed-secrets.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { ObserveOptions } from "./outline/observe.ts";
import type { ActEvent } from "./act/act-note.ts";
import type { PageActor } from "./act/page-actor.ts";
import type { PageCamera } from "./pictures/page-camera.ts";
import type { PageReader } from "./read/page-reader.ts";
import type { SessionPages } from "./tabs/session-pages.ts";
import type { PageToolCaller } from "./tools/page-tools.ts";

export interface PagesParts {
  readonly browser: Pick<BrowserSupervisor, "cdp">;
  readonly root: SessionRoot;
  readonly failures: EgressFailures | undefined;
  readonly secrets: TypedSecrets;
  /** Called after each action of `browsers.act`. */
  readonly onAct?: (event: ActEvent) => void;
}

export interface PagesArea {
  readonly handlers: Handlers<{
    actOnPage: typeof actOnPage;
    callPageTool: typeof callPageTool;
    listPageTools: typeof listPageTools;
    observePage: typeof observePage;
    printPage: typeof printPage;
    readPage: typeof readPage;
    screenshotPage: typeof screenshotPage;
  }>;
  /** For the service: renders a page in an unused browser. */
  readonly render: Handler<typeof pageControl.renderPage>;
  /** Keeps a stored value for the action that follows with its ticket. */
  offerSecret(secret: OfferedSecret): void;
  close(): Promise<void>;
}

interface Loaded {
  readonly observe: (options: ObserveOptions) => Promise<PageObservation>;
  readonly actor: PageActor;
  readonly pages: SessionPages;
  readonly camera: PageCamera;
  readonly reader: PageReader;
  readonly tools: PageToolCaller;
}

/** The first call loads the code. */
export function pagesArea({ browser, failures, onAct = () => undefined, root, secrets }: PagesParts): PagesArea {
  const offers = new OfferedSecrets();
  let created: Promise<Loaded> | undefined;
  async function create(): Promise<Loaded> {
    const { observe, PageActor, PageCamera, PageReader, PageToolCaller, SessionPages, readElements } =
      await import("./page-parts.ts");
    const pages = new SessionPages(browser, readElements);
    const reader = new PageReader(pages, secrets.inText);
    const observePage: Loaded["observe"] = (options) => observe(pages, options, reader);
    return {
      actor: new PageActor({ pages, root, failures, observe: observePage, secrets, onAct }),
      observe: observePage,
      pages,
      camera: new PageCamera(pages),
      reader,
      tools: new PageToolCaller(pages),
    };
  }
  const load = (): Promise<Loaded> => (created ??= create());
  return {
    handlers: {
      async actOnPage({ body, headers, signal }) {
        const offered = offers.take(headers[secretTicketHeader]);
        return (await load()).actor.act(body, signal, offered);
      },
      callPageTool: async ({ body, signal }) => (await load()).tools.call(body, signal),
      listPageTools: async ({ body }) => (await load()).tools.list(body.tab),
      observePage: async ({ body }) => (await load()).observe(body),
      async printPage({ body }) {
        const [{ pages }, parts] = await Promise.all([load(), import("./page-parts.ts")]);
        return parts.printPage(await pages.tab(body.tab), body);
      },
      readPage: async ({ body }) => (await load()).reader.read(body),
      screenshotPage: async ({ body }) => (await load()).camera.take(body),
    },
    async render({ body, signal }) {
      const [loaded, { renderPage }] = await Promise.all([load(), import("./page-parts.ts")]);
      return renderPage({ ...loaded, failures }, body, signal);
    },
    offerSecret: (secret) => {
      offers.offer(secret);
    },
    async close() {
      const loaded = await created;
      loaded?.actor.close();
      loaded?.tools.close();
      await Promise.all([loaded?.pages.close(), loaded?.reader.close()]);
    },
  };
}
