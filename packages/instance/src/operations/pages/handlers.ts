import type {
  actOnPage,
  callPageTool,
  invokeWebMcpTool,
  listPageTools,
  listWebMcpTools,
  observePage,
  printPage,
  readPage,
  screenshotPage,
} from "@shoal/contract";
import type { Handler, Handlers } from "@shoal/router";
import type { pageControl } from "../../protocol/page-endpoints.ts";
import { type OfferedSecret, secretTicketHeader } from "../../protocol/offered-secret.ts";
import type { RecordedActs } from "../../protocol/flow.ts";
import { OfferedSecrets } from "../../secrets/offered-secrets.ts";
import { ActLog } from "./act/record/act-log.ts";
import type { PageParts, PagesParts } from "./page-parts.ts";
import type { PersonActs } from "./person/person-acts.ts";
import type { SessionToolCaller } from "./tools/session-tools.ts";

export interface PagesArea {
  readonly handlers: Handlers<{
    actOnPage: typeof actOnPage;
    callPageTool: typeof callPageTool;
    invokeWebMcpTool: typeof invokeWebMcpTool;
    listPageTools: typeof listPageTools;
    listWebMcpTools: typeof listWebMcpTools;
    observePage: typeof observePage;
    printPage: typeof printPage;
    readPage: typeof readPage;
    screenshotPage: typeof screenshotPage;
  }>;
  /** For the service: renders a page in an unused browser. */
  readonly render: Handler<typeof pageControl.renderPage>;
  /** For the service: the actions that succeeded, without typed secrets. */
  recordedActs(): Promise<RecordedActs>;
  /** For live views: remembers what persons do. */
  personActs(): Promise<PersonActs>;
  /** For the service: does a step of a flow. */
  readonly replay: Handler<typeof pageControl.replayStep>;
  /** For the service: fills fields with stored values. */
  readonly fillFields: Handler<typeof pageControl.fillFields>;
  readonly onlyPage: Handler<typeof pageControl.onlyPage>;
  /** For code of the session. */
  readonly webMcp: Pick<SessionToolCaller, "invoke" | "list">;
  /** Keeps a stored value for the action that follows with its ticket. */
  offerSecret(secret: OfferedSecret): void;
  close(): Promise<void>;
}

/** The first call loads the code. */
export function pagesArea(given: PagesParts): PagesArea {
  const { secrets } = given;
  const offers = new OfferedSecrets();
  const recorded = new ActLog();
  let created: Promise<PageParts> | undefined;
  const load = (): Promise<PageParts> =>
    (created ??= import("./page-parts.ts").then(({ PageParts: Parts }) => new Parts(given, recorded)));
  // The service passes refusals on to callers, and they contain texts of pages.
  const withoutTyped = <Result>(work: () => Promise<Result>): Promise<Result> =>
    work().catch((error: unknown) => {
      throw secrets.inError(error);
    });
  return {
    handlers: {
      async actOnPage({ body, headers, signal }) {
        const offered = offers.take(headers[secretTicketHeader]);
        const { actor, person } = await load();
        // Its effects are not those of the action that follows.
        await person.settle();
        return actor.act(body, signal, offered);
      },
      callPageTool: async ({ body, signal }) => (await load()).tools.call(body, signal),
      invokeWebMcpTool: async ({ body, signal }) => (await load()).sessionTools.invoke(body, signal),
      listPageTools: async ({ body }) => (await load()).tools.list(body.tab),
      listWebMcpTools: async ({ query, signal }) =>
        (await load()).sessionTools.list(signal, { excludesCustom: query.exclude_custom }),
      observePage: async ({ body }) => (await load()).observe(body),
      printPage: async ({ body }) => (await load()).print(body),
      readPage: async ({ body }) => (await load()).reader.read(body),
      screenshotPage: async ({ body }) => (await load()).camera.take(body),
    },
    webMcp: {
      list: async (signal) => (await load()).sessionTools.list(signal),
      invoke: async (call, signal) => (await load()).sessionTools.invoke(call, signal),
    },
    replay: ({ body, signal }) =>
      withoutTyped(async () => secrets.inAnswer(await (await load()).replayer.replay(body, signal))),
    render: async ({ body, signal }) => (await load()).render(body, signal),
    async recordedActs() {
      await (await created)?.person.settle();
      return secrets.inEvent(recorded.read());
    },
    personActs: async () => (await load()).person,
    onlyPage: async () => (await load()).filler.onlyPage(),
    fillFields: ({ body, signal }) => withoutTyped(async () => (await load()).filler.fill(body, signal)),
    offerSecret: (secret) => {
      offers.offer(secret);
    },
    close: async () => (await created)?.close(),
  };
}
