import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { log } from "../log.ts";
import { readCookies, replaceCookies, writeCookies } from "./cookies.ts";
import { writeLocalStorage } from "./local-storage.ts";
import type { SavedCookie, SavedOrigin, SavedState } from "./saved-state.ts";

/** Chromium writes cookies up to 30 s late and those of its session never, so they are read this often. */
const readIntervalMs = 5_000;
const restoreTimeoutMs = 30_000;

/** The part of {@link BrowserSupervisor} that this file uses. */
export type RestoredBrowser = Pick<BrowserSupervisor, "cdp" | "ready" | "keepState">;

/**
 * Remembers what a browser has in memory only, and gives it to the next browser after a crash or a relaunch, before clients can use it.
 * Also notices a crash of Chromium's network service, which loses the same cookies while the browser runs on.
 */
export class RestorableState {
  readonly #browser: RestoredBrowser;
  readonly #localStorageOnDisk: () => Promise<readonly SavedOrigin[]>;
  #timer: NodeJS.Timeout | undefined;
  #cookies: readonly SavedCookie[] | undefined;
  /** Local storage that was loaded through pages and is not on disk yet. */
  #unwrittenOrigins: readonly SavedOrigin[] = [];
  /** Process id of Chromium's network service, which has the cookies. */
  #networkService: number | undefined;
  /** What the browser lacks. */
  #missing: SavedState | undefined;
  #failure = "it was not restored yet";
  #queue: Promise<unknown> = Promise.resolve();

  constructor(browser: RestoredBrowser, localStorageOnDisk: () => Promise<readonly SavedOrigin[]>) {
    this.#browser = browser;
    this.#localStorageOnDisk = localStorageOnDisk;
  }

  /** Begins to remember, for the rest of the session. May be called again. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#look(), readIntervalMs).unref();
    this.#browser.keepState({
      beforeClose: (cdp) => this.read(cdp).then(() => undefined),
      beforeReady: (cdp) => this.#inTurn(() => this.#restoreNext(cdp)),
    });
    void this.#look();
  }

  /** Makes a loaded state the one that the next browser gets. */
  load(state: SavedState | undefined): void {
    this.#missing = state ?? { version: 1, apply: "session_cookies", cookies: [], origins: [] };
    this.#cookies = undefined;
    this.#unwrittenOrigins = state?.apply === "all" ? state.origins.filter(({ localStorage }) => localStorage.length > 0) : [];
  }

  /** Returns the browser's cookies, after it has been given what it lacks. @throws when it cannot be given that. */
  read(cdp: CdpConnection): Promise<readonly SavedCookie[]> {
    return this.#inTurn(() => this.#read(cdp));
  }

  /** The cookies that were read last; `undefined` before that. */
  get lastCookies(): readonly SavedCookie[] | undefined {
    return this.#cookies;
  }

  /** @throws when the browser lacks what was loaded or saved. */
  refuseUnrestored(): void {
    if (this.#missing !== undefined)
      throw new Error(
        `The browser was started again without its cookies, because ${this.#failure}. Nothing was saved, and the profile keeps its latest version.`,
      );
  }

  /** Adds the loaded local storage that Chromium has not written yet. */
  withUnwritten(onDisk: readonly SavedOrigin[]): { readonly origins: SavedOrigin[]; readonly added: number } {
    const known = new Set(onDisk.map(({ origin }) => origin));
    this.#unwrittenOrigins = this.#unwrittenOrigins.filter(({ origin }) => !known.has(origin));
    return { origins: [...onDisk, ...this.#unwrittenOrigins], added: this.#unwrittenOrigins.length };
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
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
    // In this order: a process that is the same after the answer was the same before it.
    const networkService = await networkServiceOf(cdp);
    if (this.#networkService !== undefined && networkService !== this.#networkService && this.#cookies !== undefined) {
      log("warn", "Chromium's network service was started again and lost cookies, which are set again", {});
      // What was set since is newer than the restart, so nothing is cleared.
      await writeCookies(cdp, this.#cookies);
      cookies = await readCookies(cdp);
    }
    this.#networkService = networkService;
    this.#cookies = cookies;
    return cookies;
  }

  /** Gives a new browser what the one before had. @throws when that one is gone too, which its restart handles. */
  async #restoreNext(cdp: CdpConnection): Promise<void> {
    this.#networkService = undefined;
    if (this.#missing === undefined && this.#cookies !== undefined)
      this.#missing = { version: 1, apply: "cookies", cookies: [...this.#cookies], origins: [] };
    if (this.#missing === undefined) return;
    await this.#restore(cdp, this.#missing);
  }

  async #restore(cdp: CdpConnection, state: SavedState): Promise<void> {
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      timeout.reject(new Error(`the browser did not take them within ${String(restoreTimeoutMs / 1000)} s`));
    }, restoreTimeoutMs);
    try {
      await Promise.race([this.#apply(cdp, state), timeout.promise]);
      this.#missing = undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      log("error", "the browser's state could not be restored", { error: this.#failure });
    } finally {
      clearTimeout(timer);
      timeout.promise.catch(() => undefined);
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

/** Returns the process id of Chromium's network service; `undefined` where it has no separate process. */
async function networkServiceOf(cdp: CdpConnection): Promise<number | undefined> {
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  return processInfo.find(({ type }) => type.includes("NetworkService"))?.id;
}
