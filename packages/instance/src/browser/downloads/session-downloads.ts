import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { log } from "../../system/log.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import { DownloadList } from "./download-list.ts";
import { DownloadPlaces } from "./download-places.ts";
import type { DownloadReports } from "./download-reports.ts";
import { measureFile } from "./finished-file.ts";
import { ensureDocument } from "./first-document.ts";
import { UnplacedDownloads } from "./unplaced-downloads.ts";

/** A browser context's download settings: parameters of `Browser.setDownloadBehavior`. */
export interface DownloadBehavior {
  readonly behavior: Protocol.Browser.SetDownloadBehaviorRequest["behavior"];
  /** A path of the host. */
  readonly downloadPath?: string;
}

export interface DownloadFolder {
  /** A path of the host. */
  readonly path: string;
  /** Resolves when its complete files are also in the session's folder; running downloads follow at their end. */
  close(): Promise<void>;
}

/** The browser may hang. */
const answerTimeoutMs = 2_000;
/** A page chooses names and addresses. */
const maxNameLength = 1024;
const maxUrlLength = 8200;
/** Contexts above it are prepared again with each new page. */
const maxContexts = 10_000;
/** Claims of `Page.setDownloadBehavior`, which applies to the unknown browser context of the page. */
const pageClaims = "page";

/** Collects all downloads of the session, with any setting of its clients. */
export class SessionDownloads {
  readonly list = new DownloadList();
  readonly #places: DownloadPlaces;
  /** Complete files that are being copied or read. */
  readonly #completing = new Set<string>();
  readonly #measuring = pLimit(2);
  readonly #unplaced = new UnplacedDownloads();
  /** Settings of connected clients by browser context; "" is the default context. The latest applies. */
  readonly #claims = new Map<string, Map<object, DownloadBehavior>>();
  /** Browser contexts other than the default one. */
  readonly #contexts = new Set<string>();
  readonly #codeFolderUsers = new Set<object>();
  readonly #waiting = new Set<string>();
  readonly #unanswered = new Set<Promise<void>>();
  #cdp: CdpConnection | undefined;
  /** Id of the default context. */
  #ownContext: string | undefined;
  #denies = false;

  constructor(config: Pick<InstanceConfig, "root" | "home">, reports?: Pick<DownloadReports, "report">) {
    this.#places = new DownloadPlaces(join(config.root, config.home));
    if (reports !== undefined)
      this.list.onFinished((download) => {
        reports.report(download);
      });
  }

  /** The session's own folder for downloads, a path of the host. */
  get folder(): string {
    return this.#places.folder;
  }

  get behavior(): DownloadBehavior {
    return this.#denies ? { behavior: "deny" } : { behavior: "allowAndName", downloadPath: this.#places.incoming };
  }

  /** Clients cannot allow downloads either. */
  get denies(): boolean {
    return this.#denies;
  }

  /** Makes a new browser save the downloads of all contexts, including later ones, or cancel them. */
  async attach(cdp: CdpConnection, { denies = false } = {}): Promise<void> {
    this.#cdp = cdp;
    this.#denies = denies;
    this.list.interrupt(this.#completing);
    this.#unplaced.clear();
    this.#contexts.clear();
    this.#places.reset();
    cdp.on("Browser.downloadWillBegin", ({ guid, suggestedFilename, frameId, url }, sessionId) => {
      if (sessionId !== undefined) return;
      this.#unplaced.begin(guid);
      const name = suggestedFilename.slice(0, maxNameLength);
      if (!this.list.begin({ id: guid, name, url: url.slice(0, maxUrlLength), frameId })) {
        log("warn", "a download was canceled: too many run at once", {});
        cdp.send("Browser.cancelDownload", { guid }).catch(() => undefined);
      }
      // The tab may be closed, or the frame may be inside a page.
      ensureDocument(cdp, frameId).catch(() => undefined);
    });
    cdp.on("Browser.downloadProgress", (event, sessionId) => {
      if (sessionId === undefined) this.#progress(event);
    });
    await this.#set(cdp, "");
    await this.#followContexts(cdp);
  }

  /**
   * The browser has confirmed the changes. Chromium reads the pipe and a client's socket in any order, so an earlier
   * change on the pipe can overwrite a client's later one.
   */
  get settled(): Promise<unknown> | undefined {
    return this.#unanswered.size === 0 ? undefined : Promise.all(this.#unanswered);
  }

  /**
   * Await this before a client that has set a behavior is disconnected: the downloads that it has seen are safe then.
   * Resolves after at most some seconds.
   */
  async placed(): Promise<void> {
    // A client may see a download before this process does; Chromium sends its events before the answer.
    const answer = this.#cdp?.send("Browser.getVersion").catch(() => undefined);
    if (answer !== undefined) await pTimeout(answer, { milliseconds: answerTimeoutMs, fallback: () => undefined });
    await this.#unplaced.allPlaced();
  }

  /** Records that a client set a context's behavior; call {@link SessionDownloads.release} later. */
  claim(client: object, contextId: string, behavior: DownloadBehavior): void {
    const claims = this.#claims.get(contextId) ?? new Map<object, DownloadBehavior>();
    claims.delete(client);
    this.#claims.set(contextId, claims.set(client, behavior));
  }

  /** Call it when the browser has closed the client's connection: Chromium then forgets its settings. */
  release(client: object): void {
    for (const [contextId, claims] of this.#claims) {
      if (!claims.delete(client)) continue;
      if (claims.size === 0) this.#claims.delete(contextId);
      if (contextId === pageClaims) for (const id of ["", ...this.#contexts]) this.#restore(id, this.#latestClaim(id));
      else this.#restore(contextId, [...claims.values()].at(-1));
    }
  }

  /** Like {@link SessionDownloads.claim}, for the browser context of a page. */
  claimForPage(client: object, behavior: DownloadBehavior): void {
    this.claim(client, pageClaims, behavior);
  }

  /**
   * Call it before a page opens in a browser context that may be new: without a setting, Chromium drops its downloads.
   * Resolves when the browser has one.
   */
  prepare(contextId: string): Promise<unknown> | undefined {
    this.#follow(contextId);
    return this.settled;
  }

  /** Playwright code reads its files by guid. Contexts created meanwhile belong to the code. */
  openCodeFolder(): DownloadFolder {
    const path = this.#places.codeFolder;
    mkdirSync(path, { recursive: true });
    const user = {};
    this.#codeFolderUsers.add(user);
    this.claim(user, "", { behavior: "allowAndName", downloadPath: path });
    return {
      path,
      close: async () => {
        this.release(user);
        // The code may have seen the end of its download before this process, which then precedes the answer.
        await this.#cdp?.send("Browser.getVersion").catch(() => undefined);
        this.#codeFolderUsers.delete(user);
        if (this.#codeFolderUsers.size > 0) return;
        this.#clearCodeFolder();
        for (const contextId of this.#waiting) this.#restore(contextId);
        this.#waiting.clear();
      },
    };
  }

  #clearCodeFolder(): void {
    this.#places.clearCodeFolder((id) => this.list.find(id)?.state === "in_progress" && !this.#completing.has(id));
  }

  #restore(contextId: string, behavior = this.behavior): void {
    // The context ended with its client, or the browser has ended.
    if (this.#cdp === undefined) return;
    const answered = this.#set(this.#cdp, contextId, behavior)
      .catch(() => undefined)
      .finally(() => this.#unanswered.delete(answered));
    this.#unanswered.add(answered);
  }

  async #set(cdp: CdpConnection, contextId: string, behavior = this.behavior): Promise<void> {
    await cdp.send("Browser.setDownloadBehavior", {
      ...(this.#denies ? this.behavior : behavior),
      ...(contextId !== "" && { browserContextId: contextId }),
      eventsEnabled: true,
    });
  }

  #latestClaim(contextId: string): DownloadBehavior | undefined {
    return [...(this.#claims.get(contextId)?.values() ?? [])].at(-1);
  }

  /** Without this, Chromium drops the downloads of contexts whose client sets no behavior, as Puppeteer does. */
  async #followContexts(cdp: CdpConnection): Promise<void> {
    let isFirst = true;
    cdp.on("Target.targetCreated", ({ targetInfo: { browserContextId } }, sessionId) => {
      if (sessionId !== undefined || browserContextId === undefined) return;
      if (isFirst) this.#ownContext = browserContextId;
      else this.#follow(browserContextId);
    });
    // Existing targets belong to the default context; the answer follows the events about them.
    await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] });
    isFirst = false;
  }

  #follow(contextId: string): void {
    if (contextId === this.#ownContext || this.#contexts.has(contextId)) return;
    if (this.#contexts.size < maxContexts) this.#contexts.add(contextId);
    if (this.#claims.has(contextId)) return;
    if (this.#codeFolderUsers.size > 0) this.#waiting.add(contextId);
    else this.#restore(contextId);
  }

  #progress({ filePath, guid, receivedBytes, state, totalBytes }: Protocol.Browser.DownloadProgressEvent): void {
    if (state === "inProgress") {
      this.#unplaced.report(guid);
      this.list.progress(guid, receivedBytes, totalBytes);
      return;
    }
    this.#unplaced.end(guid);
    const download = this.list.find(guid);
    if (download?.state !== "in_progress" || this.#completing.has(guid)) return;
    if (state !== "completed") {
      this.list.finish(guid, { state: "canceled", receivedBytes });
      return;
    }
    this.#completing.add(guid);
    const placed = this.#places.place({ id: guid, name: download.name, path: filePath });
    // The download of code that has ended.
    if (this.#codeFolderUsers.size === 0) this.#clearCodeFolder();
    void this.#measuring(async () => {
      const path = await placed;
      const file = path === undefined ? undefined : await measureFile(path);
      this.#completing.delete(guid);
      this.list.finish(guid, {
        state: "completed",
        receivedBytes,
        sizeBytes: file?.sizeBytes ?? receivedBytes,
        path: file === undefined ? undefined : path,
        sha256: file?.sha256,
      });
    });
  }
}
