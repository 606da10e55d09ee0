import pLimit from "p-limit";
import pTimeout from "p-timeout";
import { messageOf } from "@shoal/primitives";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { log } from "../../system/log.ts";
import { readCookies, replaceCookies, writeCookies } from "./cookies.ts";
import { writeLocalStorage } from "./local-storage.ts";
import { localStorageOfOpenPages } from "./open-pages-storage.ts";
import type { SavedCookie, SavedOrigin, SavedState } from "./saved-state.ts";

/** Chromium writes cookies up to 30 s late, and session cookies never, so this interval is shorter. */
const readIntervalMs = 5_000;
const restoreTimeoutMs = 30_000;

export type RestoredBrowser = Pick<BrowserSupervisor, "cdp" | "ready" | "keepState">;

/** Restores state from the browser's memory after a crash, a relaunch, or a crash of the network service. */
export class RestorableState {
  readonly #browser: RestoredBrowser;
  readonly #localStorageOnDisk: () => Promise<readonly SavedOrigin[]>;
  #timer: NodeJS.Timeout | undefined;
  #cookies: readonly SavedCookie[] | undefined;
  /** Loaded local storage that Chromium has not written to disk yet. */
  #unwrittenOrigins: readonly SavedOrigin[] = [];
  /** Local storage of pages before the browser's end. A browser that ends soon after its start may lose it. */
  #openOrigins: readonly SavedOrigin[] = [];
  /** Owns the cookies: a crash of this process loses them while the browser runs on. */
  #networkService: number | undefined;
  #missing: SavedState | undefined;
  #failure = "it was not restored yet";
  readonly #oneAtATime = pLimit(1);

  constructor(browser: RestoredBrowser, localStorageOnDisk: () => Promise<readonly SavedOrigin[]>) {
    this.#browser = browser;
    this.#localStorageOnDisk = localStorageOnDisk;
  }

  /** May be called again. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#look(), readIntervalMs).unref();
    this.#browser.keepState({
      beforeClose: (cdp) => this.read(cdp).then(() => undefined),
      beforeReady: (cdp) => this.#inTurn(() => this.#restoreNext(cdp)),
    });
    void this.#look();
  }

  load(state: SavedState | undefined): void {
    this.#missing = state ?? { version: 1, apply: "session_cookies", cookies: [], origins: [] };
    this.#cookies = undefined;
    this.#unwrittenOrigins =
      state?.apply === "all" ? state.origins.filter(({ localStorage }) => localStorage.length > 0) : [];
  }

  /** Restores missing state, then returns the browser's cookies. @throws when the state cannot be restored. */
  read(cdp: CdpConnection): Promise<readonly SavedCookie[]> {
    return this.#inTurn(() => this.#read(cdp));
  }

  /** `undefined` before the first read. */
  get lastCookies(): readonly SavedCookie[] | undefined {
    return this.#cookies;
  }

  refuseUnrestored(): void {
    if (this.#missing !== undefined)
      throw new Error(
        `The browser was started again without its cookies, because ${this.#failure}. Nothing was saved, and the profile keeps its latest version.`,
      );
  }

  async noteOpenPages(cdp: CdpConnection): Promise<void> {
    const written = new Set((await this.#localStorageOnDisk()).map(({ origin }) => origin));
    this.#openOrigins = await localStorageOfOpenPages(cdp, written);
  }

  /** @param isWhole - the browser closed cleanly, so that it had its last chance to write loaded state. */
  withUnwritten(
    onDisk: readonly SavedOrigin[],
    isWhole = false,
  ): { readonly origins: SavedOrigin[]; readonly added: number } {
    const known = new Set(onDisk.map(({ origin }) => origin));
    this.#unwrittenOrigins = isWhole ? [] : this.#unwrittenOrigins.filter(({ origin }) => !known.has(origin));
    const added = new Map(
      [...this.#unwrittenOrigins, ...this.#openOrigins.filter(({ origin }) => !known.has(origin))].map((entry) => [
        entry.origin,
        entry,
      ]),
    );
    return { origins: [...onDisk, ...added.values()], added: added.size };
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#oneAtATime(work);
  }

  async #look(): Promise<void> {
    if (!this.#browser.ready || this.#missing !== undefined) return;
    try {
      await this.read(await this.#browser.cdp());
      if (this.#unwrittenOrigins.length > 0) this.withUnwritten(await this.#localStorageOnDisk());
    } catch {
      // The browser is ending or restarting. A save reports the same problem.
    }
  }

  async #read(cdp: CdpConnection): Promise<readonly SavedCookie[]> {
    if (this.#missing !== undefined) await this.#restore(cdp, this.#missing);
    this.refuseUnrestored();
    let cookies = await readCookies(cdp);
    // Compared after the cookies: if the process is the same now, it was the same before.
    const networkService = await networkServiceOf(cdp);
    if (this.#networkService !== undefined && networkService !== this.#networkService && this.#cookies !== undefined) {
      log("warn", "Chromium's network service was started again and lost cookies, which are set again", {});
      // Cookies set since the crash are newer, so keep them.
      await writeCookies(cdp, this.#cookies);
      cookies = await readCookies(cdp);
    }
    this.#networkService = networkService;
    this.#cookies = cookies;
    return cookies;
  }

  /** Restores the state in a new browser. @throws when that browser is gone too; its restart handles that. */
  async #restoreNext(cdp: CdpConnection): Promise<void> {
    this.#networkService = undefined;
    if (this.#missing === undefined && this.#cookies !== undefined)
      this.#missing = { version: 1, apply: "cookies", cookies: [...this.#cookies], origins: [] };
    if (this.#missing === undefined) return;
    await this.#restore(cdp, this.#missing);
  }

  async #restore(cdp: CdpConnection, state: SavedState): Promise<void> {
    try {
      await pTimeout(this.#apply(cdp, state), {
        milliseconds: restoreTimeoutMs,
        message: `the browser did not take them within ${String(restoreTimeoutMs / 1000)} s`,
      });
      this.#missing = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      log("error", "the browser's state could not be restored", { error: this.#failure });
    }
  }

  async #apply(cdp: CdpConnection, { apply, cookies }: SavedState): Promise<void> {
    const refused =
      apply === "session_cookies"
        ? await writeCookies(
            cdp,
            cookies.filter(({ expires }) => expires < 0),
          )
        : await replaceCookies(cdp, cookies);
    if (refused > 0) log("warn", "the browser refused cookies of the profile", { refused, of: cookies.length });
    if (this.#unwrittenOrigins.length > 0) {
      this.withUnwritten(await this.#localStorageOnDisk());
      await writeLocalStorage(cdp, this.#unwrittenOrigins);
    }
    this.#networkService = await networkServiceOf(cdp);
    this.#cookies = await readCookies(cdp);
  }
}

/** Returns a process id; `undefined` when the network service has no own process. */
async function networkServiceOf(cdp: CdpConnection): Promise<number | undefined> {
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  return processInfo.find(({ type }) => type.includes("NetworkService"))?.id;
}
