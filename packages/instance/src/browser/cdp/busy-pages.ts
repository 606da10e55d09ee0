/** A message of the protocol. Every field is checked before use. */
interface Message {
  readonly id?: unknown;
  readonly sessionId?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly error?: unknown;
}

export interface BusyPagesOptions {
  /** Sends a command to the browser. */
  readonly send: (command: object) => void;
  /** Sends an answer or an event to the client. */
  readonly tell: (message: object) => void;
}

interface Page {
  readonly sessionId: string;
  readonly targetId: string;
  readonly url: string;
  /** Whether the client was attached by an event, and would be so again. */
  readonly isAnnounced: boolean;
  /** Ids of commands without an answer. */
  readonly pending: Set<unknown>;
  /** Ids of commands that this class has answered. */
  readonly late: Set<unknown>;
  isBusy: boolean;
  /** Whether the client knows the session. */
  isKnown: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** An idle page answers within milliseconds. Clients give up after 10 to 30 s. */
const waitMs = 6_000;
/** Other ids are chosen by clients, which count from 0 or 1. */
const firstOwnId = -1_000_001;
const watchedTypes = new Set(["page", "iframe", "webview"]);
/** The commands with which clients prepare a page. Pages answer them without running scripts. */
const setupMethods = [
  String.raw`(?:Page|Runtime|Log|Network|Fetch|Inspector|Security|Performance|Console)\.enable`,
  String.raw`(?:Emulation|Network|Security)\.set\w+`,
  String.raw`Page\.(?:getFrameTree|addScriptToEvaluateOnNewDocument|createIsolatedWorld)`,
  String.raw`Page\.set(?:LifecycleEventsEnabled|BypassCSP|InterceptFileChooserDialog|FontFamilies)`,
  String.raw`Runtime\.(?:addBinding|runIfWaitingForDebugger)`,
  String.raw`Target\.(?:setAutoAttach|attachToTarget)`,
].join("|");
const setupMethod = new RegExp(`^(?:${setupMethods})$`);
/** Finds commands for {@link BusyPages.sent} without parsing. */
export const setupText = new RegExp(`"(?:${setupMethods})"`);

/**
 * Answers setup commands for pages whose main thread is busy: one endless script would otherwise block a client of
 * all pages. A client that attaches to all pages loses a busy one, and receives it again when it is free.
 */
export class BusyPages {
  readonly #options: BusyPagesOptions;
  /** By session. */
  readonly #pages = new Map<string, Page>();
  /** By target: pages that the client lost. */
  readonly #lost = new Map<string, Page>();
  /** Targets that the client has attached itself. */
  readonly #chosen = new Set<unknown>();
  /** What follows the answer to a command of this class. */
  readonly #own = new Map<unknown, (answer: Message) => void>();
  #lastId = firstOwnId;

  constructor(options: BusyPagesOptions) {
    this.#options = options;
  }

  /** Whether the answer to this id must be passed to {@link BusyPages.received}. */
  expects(id: number): boolean {
    if (this.#own.has(id)) return true;
    // Called for each answer of the browser.
    for (const { late, pending } of this.#pages.values()) if (late.has(id) || pending.has(id)) return true;
    return false;
  }

  /** Takes a command before it is sent. @returns whether it must be sent. */
  sent({ id, method, params, sessionId }: Message): boolean {
    if (method === "Target.attachToTarget") this.#chosen.add(field(params, "targetId"));
    const page = this.#pageOf(sessionId);
    if (page === undefined || typeof method !== "string" || !setupMethod.test(method)) return true;
    if (page.isBusy) {
      this.#refuse(page, [id]);
      return false;
    }
    page.pending.add(id);
    page.timer ??= setTimeout(() => {
      this.#giveUp(page);
    }, waitMs).unref();
    return true;
  }

  /** Takes an answer, or an event of an attached or detached target. @returns whether it is for the client. */
  received(message: Message): boolean {
    const { id, method, params, sessionId } = message;
    if (method === "Target.attachedToTarget") return this.#attached(message);
    if (method === "Target.detachedFromTarget") return this.#detached(this.#pageOf(field(params, "sessionId")));
    const own = this.#own.get(id);
    if (own !== undefined) {
      this.#own.delete(id);
      own(message);
      return false;
    }
    const page = this.#pageOf(sessionId);
    if (page === undefined) return true;
    if (page.late.delete(id)) {
      page.isBusy = false;
      return false;
    }
    if (page.pending.delete(id) && page.pending.size === 0) stopTimer(page);
    return true;
  }

  /** Returns the problem of a busy page, with its address. */
  problemOf(targetId: string | undefined): string | undefined {
    const page = [...this.#pages.values(), ...this.#lost.values()].find(
      (one) => one.isBusy && one.targetId === targetId,
    );
    return page && problemOf(page);
  }

  close(): void {
    for (const page of this.#pages.values()) stopTimer(page);
    this.#pages.clear();
  }

  #attached(event: Message): boolean {
    const { params, sessionId: parent } = event;
    const sessionId = field(params, "sessionId");
    const target = field(params, "targetInfo");
    const type = field(target, "type");
    const targetId = field(target, "targetId");
    // A new page waits for the client, not the reverse.
    if (field(params, "waitingForDebugger") === true || typeof type !== "string" || !watchedTypes.has(type))
      return true;
    if (typeof sessionId !== "string" || typeof targetId !== "string") return true;
    const isLost = parent === undefined && this.#lost.has(targetId);
    const page: Page = {
      sessionId,
      targetId,
      url: String(field(target, "url")),
      isAnnounced: type === "page" && parent === undefined && !this.#chosen.has(targetId),
      pending: new Set(),
      late: new Set(),
      isBusy: isLost,
      isKnown: !isLost,
      timer: undefined,
    };
    this.#pages.set(sessionId, page);
    if (isLost) this.#tellWhenFree(page, event);
    return !isLost;
  }

  #detached(page: Page | undefined): boolean {
    if (page === undefined) return true;
    stopTimer(page);
    this.#pages.delete(page.sessionId);
    // After the event, at which most clients reject these commands themselves.
    if (page.isBusy)
      queueMicrotask(() => {
        this.#refuse(page, page.pending);
      });
    if (!page.isKnown) this.#lost.delete(page.targetId);
    return page.isKnown;
  }

  #giveUp(page: Page): void {
    page.isBusy = true;
    if (page.isAnnounced) {
      this.#lost.set(page.targetId, page);
      this.#command({ method: "Target.detachFromTarget", params: { sessionId: page.sessionId } });
      this.#command(
        { method: "Target.attachToTarget", params: { targetId: page.targetId, flatten: true } },
        (answer) => {
          if (answer.error !== undefined) this.#lost.delete(page.targetId);
        },
      );
      return;
    }
    for (const id of page.pending) page.late.add(id);
    this.#refuse(page, page.pending);
    page.pending.clear();
  }

  /** The client learns of the new session when the page has answered in it. */
  #tellWhenFree(page: Page, event: Message): void {
    this.#lost.set(page.targetId, page);
    this.#command({ method: "Runtime.evaluate", params: { expression: "0" }, sessionId: page.sessionId }, () => {
      if (this.#lost.get(page.targetId) !== page) return;
      this.#lost.delete(page.targetId);
      page.isBusy = false;
      page.isKnown = true;
      this.#options.tell(event);
    });
  }

  #refuse(page: Page, ids: Iterable<unknown>): void {
    const error = { code: -32_000, message: problemOf(page) };
    for (const id of ids) this.#options.tell({ id, error, sessionId: page.sessionId });
  }

  #command(command: Message, next: (answer: Message) => void = () => undefined): void {
    const id = this.#lastId--;
    this.#own.set(id, next);
    this.#options.send({ id, ...command });
  }

  #pageOf(sessionId: unknown): Page | undefined {
    return typeof sessionId === "string" ? this.#pages.get(sessionId) : undefined;
  }
}

function stopTimer(page: Page): void {
  clearTimeout(page.timer);
  page.timer = undefined;
}

function problemOf({ targetId, url }: Page): string {
  return `The page ${url} (target ${targetId}) does not answer: a script keeps it busy, or a dialog is open. Close it, or try again later.`;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
