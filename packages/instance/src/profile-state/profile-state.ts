import { rename, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { log } from "../log.ts";
import type { InstanceConfig } from "../protocol.ts";
import { refuse, reply } from "../session/replies.ts";
import { BadProfileArchive, packProfile, unpackProfile } from "./archive.ts";
import { readCookies, replaceCookies, writeCookies } from "./cookies.ts";
import { copyKeptFiles } from "./kept-files.ts";
import { readLocalStorage } from "./local-storage-files.ts";
import { writeLocalStorage } from "./local-storage.ts";
import type { SavedCookie, SavedState } from "./saved-state.ts";

/** What the session's browser keeps, handed out and taken in. */
export interface ProfileState {
  /** Answers with an archive of it while the browser goes on. */
  save(response: ServerResponse): Promise<void>;
  /** Ends the browser and answers with an archive of what it left; may be asked again. */
  saveAtEnd(response: ServerResponse): Promise<void>;
  /** Starts the browser again with what an archive holds, in the place of what it had. */
  load(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** A browser that does not answer has nothing to say any more; its files are there. */
const cookiesTimeoutMs = 10_000;

export function createProfileState({
  config,
  browser,
}: {
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "relaunch" | "close">;
}): ProfileState {
  const folder = join(config.session_dir, "profile");
  const copy = join(config.session_dir, "profile-copy");
  const next = join(config.session_dir, "profile-next");
  let queue: Promise<unknown> = Promise.resolve();
  let ended: Promise<SavedCookie[] | undefined> | undefined;

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

  async function send(response: ServerResponse, from: string, apply: SavedState["apply"], cookies: SavedCookie[]): Promise<void> {
    const { origins, leftOut } = await readLocalStorage(join(from, "Default", "Local Storage", "leveldb"));
    response.writeHead(200, { "content-type": "application/zstd" });
    await pipeline(packProfile(from, { version: 1, apply, cookies, origins, ...(leftOut > 0 && { origins_left_out: leftOut }) }), response);
  }

  /** @returns its cookies: a headless shell has been seen to end without having written the latest ones. `undefined` when it did not tell them. */
  async function endBrowser(): Promise<SavedCookie[] | undefined> {
    const timeout = Promise.withResolvers<undefined>();
    const timer = setTimeout(timeout.resolve, cookiesTimeoutMs, undefined);
    const cookies = await Promise.race([browser.cdp().then(readCookies), timeout.promise]).catch(() => undefined);
    clearTimeout(timer);
    if (!(await browser.close())) log("warn", "the browser did not end by itself; what it wrote last may be missing in its profile");
    return cookies;
  }

  return {
    save: (response) =>
      inTurn(response, async () => {
        try {
          await rm(copy, { recursive: true, force: true });
          const cookies = await readCookies(await browser.cdp());
          await copyKeptFiles(folder, copy);
          await send(response, copy, "cookies", cookies);
        } finally {
          await rm(copy, { recursive: true, force: true });
        }
      }),

    saveAtEnd: (response) =>
      inTurn(response, async () => {
        const cookies = await (ended ??= endBrowser());
        await send(response, folder, cookies === undefined ? "session_cookies" : "cookies", cookies ?? []);
      }),

    load: (request, response) =>
      inTurn(response, async () => {
        try {
          await rm(next, { recursive: true, force: true });
          const state = await unpackProfile(request, next).finally(() => request.resume());
          await browser.relaunch({}, async () => {
            await rm(folder, { recursive: true, force: true });
            await rename(next, folder);
          });
          if (state !== undefined) await restore(state);
          reply(response, 200, {});
        } finally {
          await rm(next, { recursive: true, force: true });
        }
      }),
  };

  async function restore({ apply: what, cookies, origins }: SavedState): Promise<void> {
    const cdp = await browser.cdp();
    const refused =
      what === "session_cookies"
        ? await writeCookies(
            cdp,
            cookies.filter(({ expires }) => expires < 0),
          )
        : await replaceCookies(cdp, cookies);
    if (refused > 0) log("warn", "cookies of the profile were refused by the browser", { refused, of: cookies.length });
    if (what === "all") await writeLocalStorage(cdp, origins);
  }
}
