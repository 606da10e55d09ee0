import { rename, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { log } from "../log.ts";
import type { InstanceConfig } from "../protocol.ts";
import { refuse, reply } from "../session/replies.ts";
import { BadProfileArchive, packProfile, unpackProfile } from "./archive.ts";
import { copyKeptFiles } from "./kept-files.ts";
import { readLocalStorage } from "./local-storage-files.ts";
import { RestorableState, type RestoredBrowser } from "./restorable-state.ts";
import type { SavedCookie, SavedOrigin, SavedState } from "./saved-state.ts";

/** What the session's browser keeps, handed out and taken in. */
export interface ProfileState {
  /** Protects the browser's cookies against a crash from now on. */
  protect(): void;
  /** Answers with an archive of it while the browser goes on. */
  save(response: ServerResponse): Promise<void>;
  /** Ends the browser and answers with an archive of what it left; may be asked again. */
  saveAtEnd(response: ServerResponse): Promise<void>;
  /** Starts the browser again with what an archive holds, in the place of what it had. */
  load(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** A browser that does not answer has nothing to say any more; its files are there. */
const cookiesTimeoutMs = 10_000;
/** A browser that crashes or is relaunched during a save makes the copy of its files worthless. */
const saveAttempts = 3;

/** What a browser left when it ended. */
interface EndedBrowser {
  readonly cookies: readonly SavedCookie[] | undefined;
  readonly closedItself: boolean;
}

export function createProfileState({
  config,
  browser,
}: {
  readonly config: InstanceConfig;
  readonly browser: RestoredBrowser & Pick<BrowserSupervisor, "relaunch" | "close">;
}): ProfileState {
  const folder = join(config.session_dir, "profile");
  const copy = join(config.session_dir, "profile-copy");
  const next = join(config.session_dir, "profile-next");
  let queue: Promise<unknown> = Promise.resolve();
  let ended: Promise<EndedBrowser> | undefined;
  const restorable = new RestorableState(browser, async () => (await localStorageOf(folder)).origins);

  /** One after the other: they share folders. */
  function inTurn(response: ServerResponse, work: () => Promise<void>): Promise<void> {
    const done = queue.then(work).catch((error: unknown) => {
      log("error", "the profile could not be saved or loaded", { error: error instanceof Error ? error.message : String(error) });
      if (response.headersSent) response.destroy();
      else if (error instanceof BadProfileArchive) refuse(response, { status: 400, code: "bad_request", message: error.message });
      else refuse(response, { status: 503, code: "browser_not_running", message: error instanceof Error ? error.message : String(error) });
    });
    queue = done;
    return done;
  }

  async function send(response: ServerResponse, from: string, state: Pick<SavedState, "apply" | "cookies">, isWhole = false): Promise<void> {
    const { origins: onDisk, leftOut } = await localStorageOf(from);
    const { origins, added } = isWhole ? { origins: onDisk, added: 0 } : restorable.withUnwritten(onDisk);
    response.writeHead(200, { "content-type": "application/zstd" });
    await pipeline(
      packProfile(from, {
        version: 1,
        ...state,
        // Else the folders are taken for all of the local storage.
        ...(added > 0 && { apply: "all" }),
        origins: [...origins],
        ...(leftOut > 0 && { origins_left_out: leftOut }),
      }),
      response,
    );
  }

  /** Copies the files of one browser. @returns its cookies. */
  async function copyRunning(): Promise<readonly SavedCookie[]> {
    for (let attempt = 1; ; attempt += 1) {
      await rm(copy, { recursive: true, force: true });
      const cdp = await browser.cdp();
      try {
        const cookies = await restorable.read(cdp);
        await copyKeptFiles(folder, copy);
        if ((await browser.cdp()) === cdp) return cookies;
        throw new Error("the browser was started again while its files were copied");
      } catch (error) {
        if (attempt === saveAttempts || (await browser.cdp()) === cdp) throw error;
      }
    }
  }

  /** Ends the browser. Its cookies are read first: a headless shell has been seen to end without having written the latest ones. */
  async function endBrowser(): Promise<EndedBrowser> {
    const timeout = Promise.withResolvers<undefined>();
    const timer = setTimeout(timeout.resolve, cookiesTimeoutMs, undefined);
    const read = browser.cdp().then((cdp) => restorable.read(cdp));
    const cookies = await Promise.race([read, timeout.promise]).catch(() => undefined);
    clearTimeout(timer);
    const closedItself = await browser.close();
    if (!closedItself) log("warn", "the browser did not end by itself; what it wrote last may be missing in its profile");
    restorable.refuseUnrestored();
    return { cookies: cookies ?? restorable.lastCookies, closedItself };
  }

  return {
    protect: () => {
      restorable.start();
    },

    save: (response) =>
      inTurn(response, async () => {
        try {
          restorable.start();
          const cookies = await copyRunning();
          await send(response, copy, { apply: "cookies", cookies: [...cookies] });
        } finally {
          await rm(copy, { recursive: true, force: true });
        }
      }),

    saveAtEnd: (response) =>
      inTurn(response, async () => {
        const { cookies, closedItself } = await (ended ??= endBrowser());
        await send(response, folder, { apply: cookies === undefined ? "session_cookies" : "cookies", cookies: [...(cookies ?? [])] }, closedItself);
      }),

    load: (request, response) =>
      inTurn(response, async () => {
        try {
          await rm(next, { recursive: true, force: true });
          const state = await unpackProfile(request, next).finally(() => request.resume());
          restorable.start();
          await browser.relaunch({}, async () => {
            await rm(folder, { recursive: true, force: true });
            await rename(next, folder);
            restorable.load(state);
          });
          restorable.refuseUnrestored();
          reply(response, 200, {});
        } finally {
          await rm(next, { recursive: true, force: true });
        }
      }),
  };
}

function localStorageOf(folder: string): Promise<{ readonly origins: SavedOrigin[]; readonly leftOut: number }> {
  return readLocalStorage(join(folder, "Default", "Local Storage", "leveldb"));
}
