import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import type { Readable } from "node:stream";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { TypedSecrets } from "../../secrets/typed-secrets.ts";
import { log } from "../../system/log.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { prepareTabs } from "../open-tabs/open-tabs.ts";
import { readTabs } from "../open-tabs/read-tabs.ts";
import { BadProfileArchive, packProfile, unpackProfile } from "./archive.ts";
import { copyKeptFiles } from "./kept-files.ts";
import { readLocalStorage } from "./local-storage-files.ts";
import { RestorableState, type RestoredBrowser } from "./restorable-state.ts";
import type { SavedCookie, SavedOrigin, SavedState } from "./saved-state.ts";

/** The browser may hang. */
const cookiesTimeoutMs = 10_000;
const openPagesTimeoutMs = 2_000;
/** A crash or a relaunch makes the copy of the files worthless, so the save starts over. */
const saveAttempts = 3;

interface ProfileStateOptions {
  readonly config: InstanceConfig;
  readonly browser: RestoredBrowser & Pick<BrowserSupervisor, "close">;
  readonly secrets: Pick<TypedSecrets, "carried" | "inEvent" | "take">;
}

interface EndedBrowser {
  readonly cookies: readonly SavedCookie[] | undefined;
  readonly closedCleanly: boolean;
}

export class ProfileState {
  readonly #browser: ProfileStateOptions["browser"];
  readonly #secrets: ProfileStateOptions["secrets"];
  readonly #folder: string;
  readonly #copy: string;
  readonly #next: string;
  readonly #restorable: RestorableState;
  /** Saves and loads share folders. */
  readonly #lock = pLimit(1);
  #ended: Promise<EndedBrowser> | undefined;
  #loaded: SavedState | undefined;

  constructor({ config, browser, secrets }: ProfileStateOptions) {
    this.#browser = browser;
    this.#secrets = secrets;
    this.#folder = join(config.session_dir, "profile");
    this.#copy = join(config.session_dir, "profile-copy");
    this.#next = join(config.session_dir, "profile-next");
    this.#restorable = new RestorableState(browser, async () => (await localStorageOf(this.#folder)).origins);
  }

  protect(): void {
    this.#restorable.start();
  }

  save(): Promise<Readable> {
    return this.#saveRunning(() => Promise.resolve({}));
  }

  /** For another browser that goes on from here: with the open tabs, and the typed secrets, which it hides as well. */
  saveForFork(): Promise<Readable> {
    return this.#saveRunning(async () => {
      const tabs = await readTabs(await this.#browser.cdp(), (text) => this.#secrets.inEvent(text) !== text);
      return { tabs, secrets: this.#secrets.carried() };
    });
  }

  /** After {@link ProfileState.load} of a state with tabs. @returns loads their pages. */
  async prepareTabs(): Promise<() => Promise<void>> {
    const { secrets, tabs = [] } = this.#loaded ?? {};
    this.#loaded = undefined;
    if (secrets !== undefined) this.#secrets.take(secrets);
    return prepareTabs(await this.#browser.cdp(), tabs);
  }

  #saveRunning(readMore: () => Promise<Pick<SavedState, "secrets" | "tabs">>): Promise<Readable> {
    return this.#archive(
      async () => {
        this.#restorable.start();
        const more = await readMore();
        const cookies = await this.#copyRunning();
        return this.#pack(this.#copy, { apply: "cookies", cookies: [...cookies], ...more });
      },
      () => rm(this.#copy, { recursive: true, force: true }),
    );
  }

  saveAtEnd(): Promise<Readable> {
    return this.#archive(async () => {
      const { cookies, closedCleanly } = await (this.#ended ??= this.#endBrowser());
      const apply = cookies === undefined ? "session_cookies" : "cookies";
      return this.#pack(this.#folder, { apply, cookies: [...(cookies ?? [])] }, closedCleanly);
    });
  }

  /** @param relaunch - restarts the browser, and calls `replace` while no browser runs. */
  load(archive: Readable, relaunch: (replace: () => Promise<void>) => Promise<void>): Promise<void> {
    return this.#lock(async () => {
      try {
        await rm(this.#next, { recursive: true, force: true });
        const state = await unpackProfile(archive, this.#next).finally(() => archive.resume());
        this.#loaded = state?.tabs && state;
        this.#restorable.start();
        await relaunch(async () => {
          await rm(this.#folder, { recursive: true, force: true });
          await rename(this.#next, this.#folder);
          this.#restorable.load(state);
        });
        this.#restorable.refuseUnrestored();
      } catch (error) {
        throw explained(error);
      } finally {
        await rm(this.#next, { recursive: true, force: true });
      }
    });
  }

  /** Returns a stream as soon as it is ready, and keeps the lock until the stream is closed. */
  #archive(make: () => Promise<Readable>, clean?: () => Promise<void>): Promise<Readable> {
    const ready = Promise.withResolvers<Readable>();
    void this.#lock(async () => {
      try {
        const stream = await make();
        const closed = finished(stream).catch(() => undefined);
        ready.resolve(stream);
        await closed;
      } catch (error) {
        ready.reject(explained(error));
      } finally {
        await clean?.();
      }
    });
    return ready.promise;
  }

  async #pack(
    folder: string,
    state: Pick<SavedState, "apply" | "cookies" | "secrets" | "tabs">,
    isWhole = false,
  ): Promise<Readable> {
    const { origins: onDisk, leftOut } = await localStorageOf(folder);
    const { origins, added } = this.#restorable.withUnwritten(onDisk, isWhole);
    return packProfile(folder, {
      version: 1,
      ...state,
      // Otherwise a browser takes all local storage from the folders.
      ...(added > 0 && { apply: "all" }),
      origins: [...origins],
      ...(leftOut > 0 && { origins_left_out: leftOut }),
    });
  }

  async #copyRunning(): Promise<readonly SavedCookie[]> {
    for (let attempt = 1; ; attempt += 1) {
      await rm(this.#copy, { recursive: true, force: true });
      const cdp = await this.#browser.cdp();
      try {
        const cookies = await this.#restorable.read(cdp);
        await copyKeptFiles(this.#folder, this.#copy);
        if ((await this.#browser.cdp()) === cdp) return cookies;
        throw new Error("the browser was restarted while its files were copied");
      } catch (error) {
        if (attempt === saveAttempts || (await this.#browser.cdp()) === cdp) throw error;
      }
    }
  }

  /** Reads the cookies first: a headless shell may end without writing the latest ones. */
  async #endBrowser(): Promise<EndedBrowser> {
    const reading = this.#browser.cdp().then((cdp) => this.#restorable.read(cdp));
    const cookies = await pTimeout(reading, { milliseconds: cookiesTimeoutMs }).catch(() => undefined);
    const pages = this.#browser.cdp().then((cdp) => this.#restorable.noteOpenPages(cdp));
    await pTimeout(pages, { milliseconds: openPagesTimeoutMs }).catch(() => undefined);
    const closedCleanly = await this.#browser.close();
    if (!closedCleanly) log("warn", "the browser had to be killed; its profile may lack the latest changes");
    this.#restorable.refuseUnrestored();
    return { cookies: cookies ?? this.#restorable.lastCookies, closedCleanly };
  }
}

function explained(error: unknown): ServiceError {
  if (ServiceError.isInstance(error)) return error;
  log("error", "the profile could not be saved or loaded", { error: messageOf(error) });
  return error instanceof BadProfileArchive
    ? new ServiceError(400, "bad_request", error.message, { cause: error })
    : new ServiceError(503, "browser_not_running", messageOf(error), { cause: error });
}

function localStorageOf(folder: string): Promise<{ readonly origins: SavedOrigin[]; readonly leftOut: number }> {
  return readLocalStorage(join(folder, "Default", "Local Storage", "leveldb"));
}
