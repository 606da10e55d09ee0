import { Readable } from "node:stream";
import {
  actOnPage,
  createBrowser,
  deleteBrowser,
  execProcess,
  getBrowser,
  listBrowsers,
  listFiles,
  observePage,
  screenshotPage,
} from "@shoal/contract";
import type { ActOnPage, ActResult, Browser, CreateBrowser, PageObservation } from "@shoal/schemas";
import { ServiceError } from "@shoal/router";
import { createFetchRouter } from "@shoal/router/fetch";
import { createTransport, type Transport } from "@shoal/transport";

/** The operations that tools use, on the real router, with pages that only say which session they belong to. */
export class PretendService {
  readonly sessions = new Map<string, Browser>();
  readonly created: CreateBrowser[] = [];
  readonly actions: ActOnPage[] = [];
  readonly transport: Transport;
  /** Commands wait for it, or for the end of their request. */
  holding: Promise<void> | undefined;
  aborted = 0;
  /** Of running sessions. */
  limit = Infinity;
  onCreate: () => void = () => undefined;

  constructor() {
    const router = createFetchRouter({ context: () => undefined });
    router.mount(createBrowser, ({ body }) => {
      if (this.running().length >= this.limit) throw new ServiceError(409, "name_taken", "The name is taken.");
      this.onCreate();
      this.created.push(body);
      return this.#add(body);
    });
    router.mount(listBrowsers, () => ({
      items: [...this.sessions.values()].filter(({ deleted_at }) => deleted_at === undefined),
      hasMore: false,
      nextOffset: undefined,
    }));
    router.mount(getBrowser, ({ params }) => this.#find(params.id_or_name, true));
    router.mount(deleteBrowser, ({ params }) => {
      const session = this.#find(params.id_or_name);
      this.sessions.set(session.session_id, {
        ...session,
        deleted_at: new Date().toISOString(),
        ended_reason: "deleted",
      });
    });
    router.mount(observePage, ({ params }) => this.#page(params.id));
    router.mount(actOnPage, ({ body, params }): ActResult => {
      this.actions.push(body);
      const observation = this.#page(params.id);
      if (body.ref === "e404")
        throw new ServiceError(409, "stale_reference", "The element e404 was removed.", {
          hint: "Observe the page again with browsers.observe.",
        });
      return {
        tab: "t1",
        url: observation.url,
        title: observation.title,
        navigated: body.type === "navigate",
        new_tabs: [],
        downloads: [],
        failed_requests: [],
        settled: true,
        ...(body.observe !== undefined && { observation }),
      };
    });
    router.mount(screenshotPage, ({ params }) => {
      this.#find(params.id);
      return { stream: Readable.from([Buffer.from("picture")]) };
    });
    router.mount(listFiles, ({ params }) => {
      this.#find(params.id);
      return [];
    });
    router.mount(execProcess, async ({ signal }) => {
      signal.addEventListener("abort", () => (this.aborted += 1));
      await this.holding;
      return { exit_code: 0, stdout_b64: Buffer.from("done").toString("base64"), stderr_b64: "", duration_ms: 1 };
    });
    this.transport = createTransport({
      baseUrl: "http://shoal.test",
      apiKey: "sk_test",
      maxRetries: 0,
      fetch: (request) => router.fetch(request),
    });
  }

  running(): string[] {
    return [...this.sessions.values()]
      .filter(({ deleted_at }) => deleted_at === undefined)
      .map(({ session_id }) => session_id);
  }

  /** As after the idle timeout. */
  end(id: string): void {
    const session = this.#find(id);
    this.sessions.set(id, { ...session, deleted_at: new Date().toISOString(), ended_reason: "timeout" });
  }

  #add({ timeout_seconds = 60 }: CreateBrowser): Browser {
    // With the form of an id.
    const session_id = `session${String(this.sessions.size + 1).padStart(17, "0")}`;
    const session: Browser = {
      session_id,
      created_at: new Date().toISOString(),
      cdp_ws_url: "ws://secret",
      webdriver_ws_url: "ws://secret",
      headless: true,
      stealth: false,
      timeout_seconds,
    };
    this.sessions.set(session_id, session);
    return session;
  }

  #find(id: string, withEnded = false): Browser {
    const session = this.sessions.get(id);
    if (session === undefined || (!withEnded && session.deleted_at !== undefined))
      throw new ServiceError(404, "not_found", `Browser ${id} was not found.`);
    return session;
  }

  #page(id: string): PageObservation {
    this.#find(id);
    return {
      url: `http://site.test/${id}`,
      title: id,
      tab: "t1",
      tabs: [{ id: "t1", url: `http://site.test/${id}`, title: id, active: true }],
      outline: `button "of ${id}" [e1]`,
      tokens: 5,
      left_out: 0,
      diff: false,
      scroll: { above: 0, below: 0 },
    };
  }
}
