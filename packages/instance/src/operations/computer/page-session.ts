import { ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import pTimeout from "p-timeout";
import { CdpError, type CdpConnection, refusedForOthers } from "../../browser/cdp/cdp-connection.ts";
import { type AttachedPage, attachToPage } from "../../browser/pages/visible-page.ts";

/** Without a result, a dialog opened, the page closed, or it took too long. */
export type Outcome<T> =
  { readonly kind: "done"; readonly result: T } | { readonly kind: "dialog" | "gone" | "silent" };

export interface PageDialog {
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  readonly type: string;
  /** At most 2,000 characters. */
  readonly message: string;
  /** The prompt's initial text. */
  readonly defaultText: string;
  /** The session that can answer it: it was there when the dialog opened. */
  readonly sessionId: string;
  /** On the clock of `performance.now()`. */
  readonly openedAtMs: number;
  readonly closed: Promise<void>;
}

const maxMessageCharacters = 2_000;

export async function openPageSession(cdp: CdpConnection, targetId: string): Promise<PageSession> {
  return new PageSession(cdp, await attachToPage(cdp, targetId));
}

/** A long-lived session on one page. It observes the page's dialogs and its end, so that no command waits forever. */
export class PageSession {
  readonly cdp: CdpConnection;
  readonly targetId: string;
  readonly sessionId: string;
  readonly #page: AttachedPage;
  readonly #stops: readonly (() => void)[];
  readonly #end = Promise.withResolvers<undefined>();
  #ended = false;
  #browserEnded = false;
  #dialog: (PageDialog & { readonly close: () => void }) | undefined;
  #dialogOpened = Promise.withResolvers<undefined>();
  #crash = Promise.withResolvers<undefined>();

  constructor(cdp: CdpConnection, page: AttachedPage) {
    const { targetId, sessionId } = page;
    this.cdp = cdp;
    this.targetId = targetId;
    this.sessionId = sessionId;
    this.#page = page;
    this.#stops = this.#follow();
    void cdp.closed.then(() => {
      this.#browserEnded = true;
      this.#finish();
    });
    const open = cdp.dialogs?.openOn(targetId);
    if (open !== undefined) this.#openDialog(open, cdp.dialogs?.sessionOf(targetId));
    // Reports dialogs from here on. Not awaited: a page with an open dialog never answers.
    cdp.send("Page.enable", undefined, sessionId).catch(() => undefined);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get end(): Promise<undefined> {
    return this.#end.promise;
  }

  get dialog(): PageDialog | undefined {
    return this.#dialog;
  }

  endError(): ServiceError {
    return this.#browserEnded ? browserGone() : pageGone();
  }

  /** Waits for a command's answer while one can arrive. @throws {ServiceError} when the page rejects it. */
  async outcome<T>(command: Promise<T>, timeoutMs: number): Promise<Outcome<T>> {
    const answered = Promise.race([
      command.then((result): Outcome<T> => ({ kind: "done", result })),
      this.#dialogOpened.promise.then((): Outcome<T> => ({ kind: "dialog" })),
      this.#end.promise.then((): Outcome<T> => ({ kind: "gone" })),
      this.#crash.promise.then((): never => {
        throw pageCrashed();
      }),
    ]);
    try {
      return await pTimeout(answered, { milliseconds: timeoutMs, fallback: (): Outcome<T> => ({ kind: "silent" }) });
    } catch (error) {
      // A command's failure may arrive before the event of the session's end.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#ended) return { kind: "gone" };
      throw pageError(error);
    } finally {
      // When another event ended the wait, the answer is ignored.
      command.catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.#finish();
    await this.#page[Symbol.asyncDispose]();
  }

  #follow(): (() => void)[] {
    const { cdp, sessionId } = this;
    return [
      cdp.on("Page.javascriptDialogOpening", (event, from) => {
        if (from === sessionId) this.#openDialog(event);
      }),
      cdp.on("Page.javascriptDialogClosed", (_event, from) => {
        if (from !== undefined && (from === sessionId || from === this.#dialog?.sessionId)) this.#endDialog();
      }),
      cdp.on("Inspector.targetCrashed", (_event, from) => {
        if (from !== sessionId) return;
        this.#endDialog();
        this.#crash.resolve(undefined);
      }),
      cdp.on("Inspector.targetReloadedAfterCrash", (_event, from) => {
        if (from === sessionId) this.#crash = Promise.withResolvers();
      }),
      cdp.on("Target.detachedFromTarget", (event) => {
        if (event.sessionId === sessionId) this.#finish();
      }),
    ];
  }

  #openDialog(
    { defaultPrompt = "", message, type }: Protocol.Page.JavascriptDialogOpeningEvent,
    sessionId = this.sessionId,
  ): void {
    const closed = Promise.withResolvers<undefined>();
    this.#dialog = {
      type,
      message: message.slice(0, maxMessageCharacters),
      defaultText: defaultPrompt,
      sessionId,
      openedAtMs: performance.now(),
      closed: closed.promise,
      close() {
        closed.resolve(undefined);
      },
    };
    this.#dialogOpened.resolve(undefined);
  }

  #endDialog(): void {
    this.#dialog?.close();
    this.#dialog = undefined;
    this.#dialogOpened = Promise.withResolvers();
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const stop of this.#stops) stop();
    this.#endDialog();
    this.#end.resolve(undefined);
  }
}

export function browserGone(cause?: unknown): ServiceError {
  return new ServiceError(503, "browser_not_running", "The browser ended during the call.", {
    hint: "A crashed browser is restarted once; take a screenshot to see its state, then continue.",
    cause,
  });
}

function pageGone(): ServiceError {
  return new ServiceError(409, "conflict", "The visible page was closed during the call.", {
    hint: "Take a screenshot to see the current state, then continue.",
  });
}

function pageCrashed(cause?: unknown): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    "The visible page no longer accepts input, most likely because it crashed.",
    { hint: "Navigate it elsewhere or open another page over CDP.", cause },
  );
}

function pageError(error: unknown): unknown {
  if (!(error instanceof CdpError)) return error;
  if (error.code === refusedForOthers)
    return new ServiceError(400, "bad_request", error.message, { field: "isolation", cause: error });
  return pageCrashed(error);
}
