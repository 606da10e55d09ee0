import { existsSync, linkSync, mkdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { log } from "../log.ts";
import type { InstanceConfig } from "../protocol.ts";
import { candidateNames, safeFileName } from "./file-names.ts";
import { ensureDocument } from "./first-document.ts";

/** What a browser context does with downloads: parameters of `Browser.setDownloadBehavior`. */
export interface DownloadBehavior {
  readonly behavior: Protocol.Browser.SetDownloadBehaviorRequest["behavior"];
  /** A path of this system. */
  readonly downloadPath?: string;
}

/** A folder that Chromium writes downloads to under their guids. */
export interface DownloadFolder {
  /** A path of this system. */
  readonly path: string;
  /** Removes it with what is in it. */
  close(): void;
}

/** Finished downloads whose place is remembered for events that come later. */
const maxRemembered = 1_000;

/**
 * The session's `Downloads` folder. Chromium writes each file under its guid into a folder next to it, since with suggested names it overwrites
 * a file of the same name. A finished file moves to `Downloads` in one step, under the suggested name or the next free one.
 */
export class SessionDownloads {
  readonly #folder: string;
  readonly #incoming: string;
  /** Suggested names of downloads that have not ended, by guid. */
  readonly #names = new Map<string, string>();
  /** Where finished downloads are, by guid. */
  readonly #places = new Map<string, string>();
  /** What connected clients have set, by the id of the browser context; "" is the default one. The last of them holds. */
  readonly #claims = new Map<string, Map<object, DownloadBehavior>>();
  /** For Playwright code: files are linked from it, not moved. */
  readonly #codeFolder: string;
  readonly #codeFolderUsers = new Set<object>();
  /** Contexts that were made while code ran. */
  readonly #waiting = new Set<string>();
  /** Changes that the browser has not answered. */
  readonly #unanswered = new Set<Promise<void>>();
  #cdp: CdpConnection | undefined;

  constructor(config: Pick<InstanceConfig, "root" | "home">) {
    const home = join(config.root, config.home);
    this.#folder = join(home, "Downloads");
    this.#incoming = join(home, ".incoming-downloads");
    this.#codeFolder = join(this.#incoming, "code");
  }

  /** What a browser context does with downloads unless a client says otherwise. */
  get behavior(): DownloadBehavior {
    return { behavior: "allowAndName", downloadPath: this.#incoming };
  }

  /** Has a browser that just started keep the downloads of all its contexts, also those that clients make later. */
  async attach(cdp: CdpConnection): Promise<void> {
    this.#cdp = cdp;
    this.#names.clear();
    // A browser that crashed leaves the parts that it had.
    rmSync(this.#incoming, { recursive: true, force: true });
    mkdirSync(this.#incoming, { recursive: true });
    cdp.on("Browser.downloadWillBegin", ({ guid, suggestedFilename, frameId }, sessionId) => {
      if (sessionId !== undefined) return;
      this.#names.set(guid, suggestedFilename);
      // The tab may be gone, or the frame may be inside a page.
      ensureDocument(cdp, frameId).catch(() => undefined);
    });
    cdp.on("Browser.downloadProgress", (event, sessionId) => {
      if (sessionId === undefined && event.state !== "inProgress") this.#finish(event);
    });
    await this.#set(cdp, "");
    await this.#followContexts(cdp);
  }

  /**
   * Resolves when the browser has answered the changes that the instance sent so far; `undefined` when it has answered all. Chromium reads the
   * instance's pipe and a client's socket in any order, so an earlier change on the pipe can overwrite a later one of a client.
   */
  get settled(): Promise<unknown> | undefined {
    return this.#unanswered.size === 0 ? undefined : Promise.all(this.#unanswered);
  }

  /** Where a finished download is, a path of this system; `undefined` when it is where its client wanted it. */
  placeOf(guid: string): string | undefined {
    return this.#places.get(guid);
  }

  /** Notes that a client has set the behavior of a context; {@link SessionDownloads.release} has to follow. */
  claim(client: object, contextId: string, behavior: DownloadBehavior): void {
    const claims = this.#claims.get(contextId) ?? new Map<object, DownloadBehavior>();
    claims.delete(client);
    this.#claims.set(contextId, claims.set(client, behavior));
  }

  /** Takes back what a client has set. To be called when the browser has let its connection go, for Chromium then forgets the behavior. */
  release(client: object): void {
    for (const [contextId, claims] of this.#claims) {
      if (!claims.delete(client)) continue;
      if (claims.size === 0) this.#claims.delete(contextId);
      this.#restore(contextId, [...claims.values()].at(-1));
    }
  }

  /**
   * Opens the folder for Playwright code that runs in the session and reads its files by their guids. They are kept in `Downloads` all the
   * same. Contexts that are made in the meantime are left to the code.
   */
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
    // A context that went with its client, or a browser that is gone.
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
    // The targets that exist now are of the default context; the answer follows the events about them.
    await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] });
    isFirst = false;
  }

  #finish({ guid, state }: Protocol.Browser.DownloadProgressEvent): void {
    const suggested = this.#names.get(guid);
    this.#names.delete(guid);
    if (state !== "completed" || suggested === undefined || !/^[\w-]{1,64}$/.test(guid)) return;
    const moved = join(this.#incoming, guid);
    const linked = join(this.#codeFolder, guid);
    try {
      if (existsSync(moved)) this.#place(guid, suggested, move.bind(undefined, moved));
      else if (existsSync(linked)) this.#place(guid, suggested, linkSync.bind(undefined, linked));
    } catch (error) {
      log("error", "a download could not be moved to its folder", { error: String(error) });
    }
  }

  /** Gives a file its name in `Downloads`: the first that no other file has. */
  #place(guid: string, suggested: string, give: (to: string) => void): void {
    mkdirSync(this.#folder, { recursive: true });
    const place = firstFree(this.#folder, safeFileName(suggested), give);
    this.#places.set(guid, place);
    const [oldest] = this.#places.keys();
    if (this.#places.size > maxRemembered && oldest !== undefined) this.#places.delete(oldest);
  }
}

/** @param give - throws `EEXIST` for a path that is taken. */
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

/** A link fails where a rename would replace another file. */
function move(from: string, to: string): void {
  linkSync(from, to);
  unlinkSync(from);
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
