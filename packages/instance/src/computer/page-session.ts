import { ServiceError } from "@shoal/router";
import { CdpError, type CdpConnection } from "../cdp/pipe-connection.ts";
import { attachToPage } from "../pages/visible-page.ts";

/** How a command to a page ended: with its result, or without one because a dialog opened, the page went away, or it took too long. */
export type Outcome<T> = { readonly kind: "done"; readonly result: T } | { readonly kind: "dialog" | "gone" | "silent" };

/** A dialog that a page has open. */
export interface PageDialog {
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  readonly type: string;
  /** What a prompt holds at first. */
  readonly defaultText: string;
  /** On the clock of `performance.now()`. */
  readonly openedAtMs: number;
  /** Resolves when somebody has answered it. */
  readonly closed: Promise<void>;
}

/** The instance's lasting hold on one page: it sees the page's dialogs and its end, so that no command waits for ever. */
export interface PageSession {
  readonly cdp: CdpConnection;
  readonly targetId: string;
  readonly sessionId: string;
  /** Whether the page, or the browser, is gone. */
  readonly ended: boolean;
  /** Resolves when it is. */
  readonly end: Promise<undefined>;
  /** What its end means to the caller. */
  endError(): ServiceError;
  readonly dialog: PageDialog | undefined;
  /**
   * Waits for a command's answer, as long as there can be one.
   *
   * @param timeoutMs - milliseconds.
   * @throws {ServiceError} when the page refuses it.
   */
  outcome<T>(command: Promise<T>, timeoutMs: number): Promise<Outcome<T>>;
  /** Lets go of the page. */
  close(): Promise<void>;
}

export async function openPageSession(cdp: CdpConnection, targetId: string): Promise<PageSession> {
  const page = await attachToPage(cdp, targetId);
  const { sessionId } = page;
  const end = Promise.withResolvers<undefined>();
  let ended = false;
  let browserEnded = false;
  let dialog: (PageDialog & { readonly close: () => void }) | undefined;
  let dialogOpened = Promise.withResolvers<undefined>();
  let crash = Promise.withResolvers<undefined>();

  const stops = [
    cdp.on("Page.javascriptDialogOpening", ({ type, defaultPrompt = "" }, from) => {
      if (from !== sessionId) return;
      const closed = Promise.withResolvers<undefined>();
      dialog = {
        type,
        defaultText: defaultPrompt,
        openedAtMs: performance.now(),
        closed: closed.promise,
        close() {
          closed.resolve(undefined);
        },
      };
      dialogOpened.resolve(undefined);
    }),
    cdp.on("Page.javascriptDialogClosed", (_event, from) => {
      if (from === sessionId) endDialog();
    }),
    cdp.on("Inspector.targetCrashed", (_event, from) => {
      if (from !== sessionId) return;
      endDialog();
      crash.resolve(undefined);
    }),
    cdp.on("Inspector.targetReloadedAfterCrash", (_event, from) => {
      if (from === sessionId) crash = Promise.withResolvers();
    }),
    cdp.on("Target.detachedFromTarget", (event) => {
      if (event.sessionId === sessionId) finish();
    }),
  ];
  void cdp.closed.then(() => {
    browserEnded = true;
    finish();
  });

  function endDialog(): void {
    dialog?.close();
    dialog = undefined;
    dialogOpened = Promise.withResolvers();
  }

  function finish(): void {
    if (ended) return;
    ended = true;
    for (const stop of stops) stop();
    endDialog();
    end.resolve(undefined);
  }

  // Dialogs are told from here on. Not awaited: a page that has one open already never answers.
  cdp.send("Page.enable", undefined, sessionId).catch(() => undefined);

  return {
    cdp,
    targetId,
    sessionId,
    get ended() {
      return ended;
    },
    end: end.promise,
    endError: () => (browserEnded ? browserGone() : pageGone()),
    get dialog() {
      return dialog;
    },
    async outcome<T>(command: Promise<T>, timeoutMs: number): Promise<Outcome<T>> {
      const silence = Promise.withResolvers<Outcome<T>>();
      const timer = setTimeout(silence.resolve, timeoutMs, { kind: "silent" });
      try {
        return await Promise.race([
          command.then((result): Outcome<T> => ({ kind: "done", result })),
          dialogOpened.promise.then((): Outcome<T> => ({ kind: "dialog" })),
          end.promise.then((): Outcome<T> => ({ kind: "gone" })),
          crash.promise.then((): never => {
            throw pageCrashed();
          }),
          silence.promise,
        ]);
      } catch (error) {
        // The refusal of a session that is gone may come before the news of its end.
        await new Promise((resolve) => setImmediate(resolve));
        if (ended) return { kind: "gone" };
        throw pageError(error);
      } finally {
        clearTimeout(timer);
        // Where something else ended the wait, nobody looks at the answer any more.
        command.catch(() => undefined);
      }
    },
    async close() {
      finish();
      await page[Symbol.asyncDispose]();
    },
  };
}

/** The browser crashed, or ends with its session, while it was asked for something. */
export function browserGone(cause?: unknown): ServiceError {
  return new ServiceError(
    503,
    "browser_not_running",
    "The browser ended during the call. A browser that crashed is started again once; take a screenshot to see what is there, then go on.",
    { cause },
  );
}

/** The page went away while it was asked for something. */
function pageGone(): ServiceError {
  return new ServiceError(409, "conflict", "The visible page was closed during the call. Take a screenshot to see what is there now, then go on.");
}

function pageCrashed(cause?: unknown): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    "The visible page takes nothing any more, most likely because it crashed. Navigate it elsewhere or open another page over CDP.",
    { cause },
  );
}

function pageError(error: unknown): unknown {
  if (!(error instanceof CdpError)) return error;
  return pageCrashed(error);
}
