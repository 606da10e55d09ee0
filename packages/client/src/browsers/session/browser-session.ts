import type {
  Browser,
  BrowserDownload,
  ExecProcess,
  FileSystemEvent,
  Replay,
  SpawnProcess,
  StartReplay,
  StartWatch,
} from "@shoal/schemas";
import { ApiError, type CallOptions, type Download, type EventStream, type StreamOptions } from "@shoal/transport";
import type { WaitForDownloadOptions } from "../browser-downloads.ts";
import type { BrowserFetchInit } from "../browser-fetch.ts";
import type { CommandResult } from "../browser-processes.ts";
import type { ReplayDownloadOptions } from "../browser-replays.ts";
import type { StartedWatch } from "../directory-watches.ts";
import { evaluateIn } from "./evaluate.ts";
import type { SessionCalls } from "./parts.ts";
import { SessionComputer } from "./session-computer.ts";
import { SessionFiles } from "./session-files.ts";
import { SessionHandoff } from "./session-handoff.ts";
import { SessionPages } from "./session-pages.ts";
import { SessionProcess } from "./session-process.ts";
import type { PlaywrightPage } from "./with-page.ts";

/** Options of a command, with those of its call. */
export type CommandOptions<Body extends object> = Omit<Body, "command" | "args"> & { readonly call?: CallOptions };

/** A watch with its changes. */
export interface SessionWatch extends StartedWatch, AsyncIterable<FileSystemEvent> {}

/** A running recording. With `await using` it stops at the end of the scope. */
export interface SessionReplay extends Replay, AsyncDisposable {
  /** Ends the recording; its file is written afterwards. */
  stop(options?: CallOptions): Promise<void>;
  /** Downloads the film, after `stop`. */
  download(options?: ReplayDownloadOptions): Promise<Download>;
}

/** The methods of a session. Its data are those of {@link Browser}. */
export class SessionMethods extends SessionPages {
  readonly #calls: SessionCalls;
  readonly #id: string;
  readonly #cdpUrl: string;
  #lastDownload: string | undefined;
  constructor(calls: SessionCalls, { cdp_ws_url: cdpUrl, session_id: id }: Browser) {
    super(calls, id);
    this.#calls = calls;
    this.#id = id;
    this.#cdpUrl = cdpUrl;
  }

  /** Files of the session. */
  get files(): SessionFiles {
    return new SessionFiles(this.#calls.fs, this.#id);
  }
  /** Mouse, keyboard and screen of the session. */
  get computer(): SessionComputer {
    return new SessionComputer(this.#calls.computer, this.#id);
  }
  /** Control of the session by a person, while programs pause. */
  get handoff(): SessionHandoff {
    return new SessionHandoff(this.#calls.handoff, this.#id);
  }
  /** Recordings of the session's screen. */
  get replay() {
    const { replays } = this.#calls;
    const id = this.#id;
    return {
      /** Lists the session's recordings, oldest first. */
      list: (options?: CallOptions): Promise<Replay[]> => replays.list(id, options),
      /** Starts a recording. */
      async start(body: StartReplay = {}, options?: CallOptions): Promise<SessionReplay> {
        const replay = await replays.start(id, body, options);
        const { replay_id: replayId } = replay;
        const stop = (call?: CallOptions): Promise<void> => replays.stop(id, replayId, call);
        return withHidden(replay, {
          stop,
          download: (call?: ReplayDownloadOptions): Promise<Download> => replays.download(id, replayId, call),
          [Symbol.asyncDispose]: () => unlessGone(stop()),
        });
      },
    };
  }

  /** Runs a command to its end and returns its output as text. A failure is in `exitCode`. */
  run(
    command: string,
    args: string[] = [],
    { call, ...options }: CommandOptions<ExecProcess> = {},
  ): Promise<CommandResult> {
    return this.#calls.process.run(this.#id, { ...options, command, args }, call);
  }
  /** Starts a process. */
  async spawn(
    command: string,
    args: string[] = [],
    { call, ...options }: CommandOptions<SpawnProcess> = {},
  ): Promise<SessionProcess> {
    const started = await this.#calls.process.spawn(this.#id, { ...options, command, args }, call);
    return new SessionProcess(this.#calls.process, this.#id, started);
  }
  /**
   * Watches a directory. Changes are stored from now on.
   *
   * @example
   * await using changes = await browser.watch("/home/shoal/Downloads");
   * for await (const { path, type } of changes) console.log(type, path);
   */
  async watch(path: string, options: Omit<StartWatch, "path"> = {}, call?: StreamOptions): Promise<SessionWatch> {
    const { watch } = this.#calls.fs;
    const started = await watch.start(this.#id, { ...options, path }, call);
    const events = (): EventStream<FileSystemEvent> => watch.events(this.#id, started.watch_id, call);
    return withHidden(started, { [Symbol.asyncIterator]: () => events()[Symbol.asyncIterator]() });
  }
  /**
   * Evaluates an expression, or a function with a JSON argument, in the front page.
   *
   * @example
   * const count = await browser.evaluate((selector: string) => document.querySelectorAll(selector).length, "li");
   *
   * @throws what the page threw.
   */
  evaluate<Argument, Result>(
    code: (argument: Argument) => Result,
    argument: Argument,
    call?: CallOptions,
  ): Promise<Awaited<Result>>;
  evaluate<Result>(code: () => Result): Promise<Awaited<Result>>;
  evaluate(code: string): Promise<unknown>;
  evaluate(code: string | ((argument: never) => unknown), argument?: unknown, call?: CallOptions): Promise<unknown> {
    return evaluateIn((body) => this.#calls.playwright.execute(this.#id, body, call), code, argument);
  }
  /**
   * Connects Playwright to the page of the tab in front, as `evaluate` uses it, and disconnects when `use` has ended. Needs the package playwright-core.
   *
   * @example
   * const title = await browser.withPage((page) => page.title());
   */
  async withPage<T>(use: (page: PlaywrightPage) => Promise<T> | T): Promise<T> {
    const { withPlaywrightPage } = await import("./with-page.ts");
    const frontTarget = async (): Promise<string | undefined> => {
      // A key may connect without the right to run code.
      const answer = await this.#calls.playwright.execute(this.#id, { code: "return 0" }).catch(() => undefined);
      return answer?.tab?.target_id;
    };
    return withPlaywrightPage({ cdpUrl: this.#cdpUrl, frontTarget }, use);
  }
  /**
   * Waits for the next finished download: the first one of the session, then the one after the last that this object
   * returned. It may have finished before the call.
   *
   * @example
   * await browser.click("e12");
   * const { path, state } = await browser.waitForDownload();
   *
   * @throws {TimeoutError} after `timeoutMs`, 60,000 by default.
   */
  async waitForDownload(options: WaitForDownloadOptions = {}): Promise<BrowserDownload> {
    const found = await this.#calls.downloads.waitForDownload(this.#id, { after: this.#lastDownload, ...options });
    this.#lastDownload = found.download_id;
    return found;
  }
  /** Sends a request through the browser's network, as `browsers.fetch` does. */
  fetch(url: string | URL, init?: BrowserFetchInit): Promise<Response> {
    return this.#calls.fetch(this.#id, url, init);
  }
  /** Ends the session with its processes and deletes its files. */
  delete(options?: CallOptions): Promise<void> {
    return this.#calls.delete(this.#id, options);
  }
}

/** A running session: its data, and methods that need no id. */
export interface AttachedSession extends Browser, SessionMethods {}

/** A started or leased session. With `await using` it ends, or returns to its pool, at the end of the scope. */
export interface BrowserSession extends AttachedSession, AsyncDisposable {}

/** Printed, copied and serialised sessions contain only data. */
export function attachedTo(browser: Browser, calls: SessionCalls): AttachedSession {
  return Object.assign(new SessionMethods(calls, browser), browser);
}

/** `end` runs at the end of the scope; a missing session is not an error. */
export function sessionOf(browser: Browser, calls: SessionCalls, end: () => Promise<void>): BrowserSession {
  return withHidden(attachedTo(browser, calls), { [Symbol.asyncDispose]: () => unlessGone(end()) });
}

/** Adds methods that are not enumerable. */
function withHidden<T extends object, Methods extends object>(value: T, methods: Methods): T & Methods {
  for (const key of Reflect.ownKeys(methods)) Object.defineProperty(value, key, { value: Reflect.get(methods, key) });
  return value as T & Methods;
}

async function unlessGone(ending: Promise<void>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    // It has already ended.
    if (!ApiError.isInstance(error) || error.status !== 404) throw error;
  }
}
