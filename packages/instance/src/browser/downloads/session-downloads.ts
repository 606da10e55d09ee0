import { existsSync, linkSync, mkdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { log } from "../../system/log.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { DownloadReports } from "./download-reports.ts";
import { candidateNames, safeFileName } from "./file-names.ts";
import { ensureDocument } from "./first-document.ts";

/** A browser context's download settings: parameters of `Browser.setDownloadBehavior`. */
export interface DownloadBehavior {
  readonly behavior: Protocol.Browser.SetDownloadBehaviorRequest["behavior"];
  /** A path of the host. */
  readonly downloadPath?: string;
}

export interface DownloadFolder {
  /** A path of the host. */
  readonly path: string;
  close(): void;
}

/** Number of finished downloads whose path is kept for later events. */
const maxRemembered = 1_000;

/**
 * Chromium overwrites files of suggested names, so it writes each file under its guid into a folder next to
 * `Downloads`; a finished file moves atomically to the next free name.
 */
export class SessionDownloads {
  readonly #folder: string;
  readonly #incoming: string;
  readonly #begun = new Map<string, { readonly name: string; readonly url: string }>();
  readonly #places = new Map<string, string>();
  /** Settings of connected clients by browser context; "" is the default context. The latest applies. */
  readonly #claims = new Map<string, Map<object, DownloadBehavior>>();
  /** For Playwright code: its files are linked into `Downloads`, not moved. */
  readonly #codeFolder: string;
  readonly #codeFolderUsers = new Set<object>();
  readonly #waiting = new Set<string>();
  readonly #unanswered = new Set<Promise<void>>();
  #cdp: CdpConnection | undefined;

  readonly #reports: Pick<DownloadReports, "report"> | undefined;

  constructor(config: Pick<InstanceConfig, "root" | "home">, reports?: Pick<DownloadReports, "report">) {
    this.#reports = reports;
    const home = join(config.root, config.home);
    this.#folder = join(home, "Downloads");
    this.#incoming = join(home, ".incoming-downloads");
    this.#codeFolder = join(this.#incoming, "code");
  }

  get behavior(): DownloadBehavior {
    return { behavior: "allowAndName", downloadPath: this.#incoming };
  }

  /** Makes a new browser save the downloads of all contexts, including later ones. */
  async attach(cdp: CdpConnection): Promise<void> {
    this.#cdp = cdp;
    this.#begun.clear();
    // Removes partial downloads of a crashed browser.
    rmSync(this.#incoming, { recursive: true, force: true });
    mkdirSync(this.#incoming, { recursive: true });
    cdp.on("Browser.downloadWillBegin", ({ guid, suggestedFilename, frameId, url }, sessionId) => {
      if (sessionId !== undefined) return;
      this.#begun.set(guid, { name: suggestedFilename, url });
      // The tab may be closed, or the frame may be inside a page.
      ensureDocument(cdp, frameId).catch(() => undefined);
    });
    cdp.on("Browser.downloadProgress", (event, sessionId) => {
      if (sessionId === undefined && event.state !== "inProgress") this.#finish(event);
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

  /** Returns the path of a finished download on the host; `undefined` when it is in the folder its client chose. */
  placeOf(guid: string): string | undefined {
    return this.#places.get(guid);
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
      this.#restore(contextId, [...claims.values()].at(-1));
    }
  }

  /** Playwright code reads its files by guid. Contexts created meanwhile belong to the code. */
  openCodeFolder(): DownloadFolder {
    const path = this.#codeFolder;
    mkdirSync(path, { recursive: true });
    const user = {};
    this.#codeFolderUsers.add(user);
    this.claim(user, "", { behavior: "allowAndName", downloadPath: path });
    return {
      path,
      close: () => {
        this.#codeFolderUsers.delete(user);
        this.release(user);
        if (this.#codeFolderUsers.size > 0) return;
        rmSync(path, { recursive: true, force: true });
        for (const contextId of this.#waiting) this.#restore(contextId);
        this.#waiting.clear();
      },
    };
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
      ...behavior,
      ...(contextId !== "" && { browserContextId: contextId }),
      eventsEnabled: true,
    });
  }

  /** Without this, Chromium drops the downloads of contexts whose client sets no behavior, as Puppeteer does. */
  async #followContexts(cdp: CdpConnection): Promise<void> {
    let isFirst = true;
    const known = new Set<string>();
    cdp.on("Target.targetCreated", ({ targetInfo: { browserContextId } }, sessionId) => {
      if (sessionId !== undefined || browserContextId === undefined || known.has(browserContextId)) return;
      known.add(browserContextId);
      if (isFirst || this.#claims.has(browserContextId)) return;
      if (this.#codeFolderUsers.size > 0) this.#waiting.add(browserContextId);
      else this.#restore(browserContextId);
    });
    // Existing targets belong to the default context; the answer follows the events about them.
    await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] });
    isFirst = false;
  }

  #finish({ filePath, guid, receivedBytes, state }: Protocol.Browser.DownloadProgressEvent): void {
    const begun = this.#begun.get(guid);
    this.#begun.delete(guid);
    if (begun === undefined) return;
    const isWhole = state === "completed";
    if (isWhole) this.#settle(guid, begun.name);
    this.#reports?.report({
      state: isWhole ? "completed" : "canceled",
      suggestedName: begun.name,
      url: begun.url,
      path: isWhole ? (this.#places.get(guid) ?? filePath) : undefined,
      sizeBytes: receivedBytes,
    });
  }

  #settle(guid: string, suggested: string): void {
    if (!/^[\w-]{1,64}$/.test(guid)) return;
    const moved = join(this.#incoming, guid);
    const linked = join(this.#codeFolder, guid);
    try {
      if (existsSync(moved)) this.#place(guid, suggested, move.bind(undefined, moved));
      else if (existsSync(linked)) this.#place(guid, suggested, linkSync.bind(undefined, linked));
    } catch (error) {
      log("error", "a download could not be moved to its folder", { error: String(error) });
    }
  }

  #place(guid: string, suggested: string, give: (to: string) => void): void {
    mkdirSync(this.#folder, { recursive: true });
    const place = firstFree(this.#folder, safeFileName(suggested), give);
    this.#places.set(guid, place);
    const [oldest] = this.#places.keys();
    if (this.#places.size > maxRemembered && oldest !== undefined) this.#places.delete(oldest);
  }
}

/** @param give - throws `EEXIST` when the path exists. */
function firstFree(folder: string, name: string, give: (path: string) => void): string {
  for (const candidate of candidateNames(name)) {
    const path = join(folder, candidate);
    try {
      give(path);
      return path;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  throw new Error(`every name like ${name} is taken`);
}

/** Unlike a rename, a link fails when the file exists. */
function move(from: string, to: string): void {
  linkSync(from, to);
  unlinkSync(from);
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
