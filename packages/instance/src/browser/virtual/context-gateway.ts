import {
  CommandRules,
  type CommandVerdict,
  type KnownObjects,
  type Params,
  type SessionKind,
} from "./command-rules.ts";
import { type ContextScope, isOwn, type TargetInfo } from "./context-scope.ts";
import { DownloadEvents } from "./download-events.ts";
import { answerHeadOf, eventEndsOf } from "./message-ends.ts";
import { pageDomains } from "./page-methods.ts";

export interface ContextGatewayOptions {
  readonly scope: ContextScope;
  readonly toBrowser: (message: string) => void;
  readonly toClient: (message: string) => void;
  /** The client broke a limit. It must be disconnected. */
  readonly onExcess: (reason: string) => void;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Command {
  readonly id: number;
  readonly method: string;
  readonly params: Params;
  readonly sessionId: string | undefined;
}

interface Pending {
  readonly command: Command | undefined;
  /** For questions of the gateway itself. */
  readonly settle?: (result: unknown) => void;
}

/** Their answers may contain objects of others, or tell the gateway about own ones. */
const inspectedAnswers: ReadonlySet<string> = new Set([
  "Browser.getWindowForTarget",
  "Target.attachToBrowserTarget",
  "Target.createTarget",
  "Target.getTargetInfo",
  "Target.getTargets",
]);
const invalidRequest = -32600;
const noSuchSession = -32001;
const maxPending = 20_000;
/** Of commands that wait for the answer to a question. */
const maxHeldCharacters = 64 * 2 ** 20;

/**
 * Between one CDP client and its own connection to a shared browser: reads every message in both directions, and shows
 * one browser context as if it were the whole browser. Its context takes the place of the default context.
 */
export class ContextGateway implements KnownObjects {
  readonly #options: ContextGatewayOptions;
  readonly #rules: CommandRules;
  readonly #sessions = new Map<string, SessionKind>();
  readonly #windows = new Set<number>();
  readonly #pending = new Map<number, Pending>();
  readonly #downloads: DownloadEvents;
  #held: string[] | undefined;
  #heldCharacters = 0;
  #browserAttachments = 0;
  /** For a connection to one page: the session that stands for the connection itself. */
  #pageSession: string | undefined;
  #nextId = 1;

  constructor(options: ContextGatewayOptions) {
    this.#options = options;
    this.#rules = new CommandRules(options.scope, this);
    this.#downloads = new DownloadEvents(options.scope, options.toClient);
  }

  hasSession(sessionId: unknown): boolean {
    return typeof sessionId === "string" && this.#sessions.has(sessionId);
  }

  hasWindow(windowId: unknown): boolean {
    return typeof windowId === "number" && this.#windows.has(windowId);
  }

  hasTarget(targetId: unknown): boolean | Promise<boolean> {
    return typeof targetId === "string" && this.#options.scope.targets.has(targetId);
  }

  /** Takes a message of the client. */
  command(text: string): void {
    if (this.#held === undefined) {
      try {
        this.#takeCommand(text);
      } catch (error) {
        // JSON that is nested too deeply to be written again.
        if (!(error instanceof RangeError)) throw error;
        this.#options.onExcess("a command is nested too deeply");
      }
      return;
    }
    this.#heldCharacters += text.length;
    if (this.#heldCharacters > maxHeldCharacters) this.#options.onExcess("too many commands wait for the browser");
    else this.#held.push(text);
  }

  /** Connects the client to one page, as `/devtools/page/{id}` does. Later commands wait. @returns whether it exists. */
  async openPage(targetId: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#holdDuring(promise);
    const isHere = await this.hasTarget(targetId);
    const attached = isHere ? await this.#ask("Target.attachToTarget", { targetId, flatten: true }) : undefined;
    const { sessionId } = fieldsOf(attached);
    if (typeof sessionId === "string") {
      this.#pageSession = sessionId;
      this.#sessions.set(sessionId, "target");
    }
    resolve(undefined);
    return typeof sessionId === "string";
  }

  /** Takes a message of the browser. */
  message(text: string): void {
    if (this.#pageSession === undefined && (this.#passAnswer(text) || this.#passEvent(text))) return;
    // From the browser; fields are checked before use.
    const message = JSON.parse(text) as Message;
    if (typeof message.id === "number") this.#takeAnswer(message.id, message, text);
    else if (typeof message.method === "string" && this.#mayPass(message.method, message, text))
      this.#tell(message, text);
  }

  /** Without parsing; for the client, only the id differs. */
  #passAnswer(text: string): boolean {
    const head = answerHeadOf(text);
    const command = head && this.#pending.get(head.id)?.command;
    if (head === undefined || command === undefined || inspectedAnswers.has(command.method)) return false;
    this.#pending.delete(head.id);
    this.#options.toClient(`{"id":${String(command.id)},${text.slice(head.restAt)}`);
    return true;
  }

  /** Without parsing, because the session decides. */
  #passEvent(text: string): boolean {
    const event = eventEndsOf(text);
    if (event === undefined || !pageDomains.has(event.domain)) return false;
    if (this.#sessions.get(event.sessionId) !== "target") return false;
    this.#options.toClient(text);
    return true;
  }

  #tell(message: Message, text: string): void {
    if (this.#pageSession === undefined) this.#options.toClient(text);
    else if (message.sessionId === this.#pageSession)
      this.#options.toClient(JSON.stringify({ ...message, sessionId: undefined }));
    else if (message.sessionId !== undefined) this.#options.toClient(text);
    else if (message.method === "Target.detachedFromTarget" && !this.#sessions.has(this.#pageSession))
      this.#options.onExcess("the page is closed");
  }

  #takeCommand(text: string): void {
    const command = commandOf(text);
    if ("problem" in command) {
      this.#reply(command, { error: { code: invalidRequest, message: command.problem } });
      return;
    }
    const sessionId = command.sessionId ?? this.#pageSession;
    const kind = sessionId === undefined ? "browser" : this.#sessions.get(sessionId);
    if (kind === undefined) {
      this.#reply(command, { error: { code: noSuchSession, message: "Session with given id not found." } });
      return;
    }
    const verdict = this.#rules.judge(command.method, command.params, kind);
    if (verdict instanceof Promise)
      this.#holdDuring(
        verdict.then((decided) => {
          this.#obey(decided, command);
        }),
      );
    else this.#obey(verdict, command);
  }

  /** Later commands wait, because their order matters. */
  #holdDuring(work: Promise<unknown>): void {
    const held: string[] = [];
    this.#held = held;
    void work.then(() => {
      this.#held = undefined;
      this.#heldCharacters = 0;
      for (const text of held) this.command(text);
    });
  }

  #obey(verdict: CommandVerdict, command: Command): void {
    if ("answer" in verdict) this.#reply(command, { result: verdict.answer });
    else if ("refuse" in verdict) this.#reply(command, { error: { code: verdict.code, message: verdict.refuse } });
    else this.#send(command, verdict.send);
  }

  #send(command: Command, params: Params): void {
    if (this.#pending.size >= maxPending) {
      this.#options.onExcess("too many commands wait for an answer");
      return;
    }
    const id = this.#nextId++;
    this.#pending.set(id, { command });
    if (command.method === "Target.attachToBrowserTarget") this.#browserAttachments++;
    const { method, sessionId = this.#pageSession } = command;
    // Written again, so that the browser reads the same fields as the gateway.
    this.#options.toBrowser(JSON.stringify({ id, method, params, sessionId }));
  }

  /** @returns the result; `undefined` for an error. */
  #ask(method: string, params: Params): Promise<unknown> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { command: undefined, settle: resolve });
    this.#options.toBrowser(JSON.stringify({ id, method, params }));
    return promise;
  }

  #order(method: string, params: Params, sessionId: unknown): void {
    this.#options.toBrowser(JSON.stringify({ id: this.#nextId++, method, params, sessionId }));
  }

  #takeAnswer(id: number, message: Message, text: string): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { command, settle } = pending;
    settle?.(message.result);
    if (command === undefined) return;
    if (command.method === "Target.attachToBrowserTarget") this.#browserAttachments--;
    const result = message.error === undefined ? this.#ownResult(command.method, message.result) : undefined;
    if (result !== undefined && result !== message.result) this.#reply(command, { result });
    else this.#pass(command, id, message, text);
  }

  #pass(command: Command, id: number, message: Message, text: string): void {
    const head = `{"id":${String(id)},`;
    if (command.sessionId !== message.sessionId)
      this.#options.toClient(JSON.stringify({ ...message, id: command.id, sessionId: command.sessionId }));
    else if (text.startsWith(head)) this.#options.toClient(`{"id":${String(command.id)},${text.slice(head.length)}`);
    else this.#options.toClient(JSON.stringify({ ...message, id: command.id }));
  }

  /** @returns the same object if it contains nothing of others. */
  #ownResult(method: string, result: unknown): unknown {
    const { scope } = this.#options;
    const { sessionId, targetId, targetInfos, windowId } = fieldsOf(result);
    if (method === "Target.getTargets") {
      const infos: readonly TargetInfo[] = Array.isArray(targetInfos) ? targetInfos : [];
      return { targetInfos: infos.filter((info) => isOwn(scope, info)) };
    }
    if (method === "Target.getTargetInfo") {
      const info = infoOf(result);
      return isOwn(scope, info) || info?.type === "browser" ? result : {};
    }
    if (method === "Target.createTarget" && typeof targetId === "string") this.#options.scope.targets.add(targetId);
    if (method === "Browser.getWindowForTarget" && typeof windowId === "number") this.#windows.add(windowId);
    if (method === "Target.attachToBrowserTarget" && typeof sessionId === "string")
      this.#sessions.set(sessionId, "browser");
    return result;
  }

  /** Decides about an event. Those of downloads pass later. */
  #mayPass(method: string, { params, sessionId }: Message, text: string): boolean {
    const kind = typeof sessionId === "string" ? this.#sessions.get(sessionId) : "browser";
    if (kind === undefined) return false;
    const [domain = ""] = method.split(".", 1);
    if (domain === "Target") return this.#mayPassTarget(method, fieldsOf(params), sessionId);
    if (method === "Browser.downloadWillBegin") this.#downloads.willBegin(fieldsOf(params), text);
    if (method === "Browser.downloadProgress") this.#downloads.progress(fieldsOf(params), text);
    return kind === "target" && pageDomains.has(domain);
  }

  #mayPassTarget(method: string, params: Params, parent: unknown): boolean {
    const { sessionId, targetId } = params;
    switch (method) {
      case "Target.attachedToTarget":
        return this.#attached(params, parent);
      case "Target.detachedFromTarget":
        return typeof sessionId === "string" && this.#detached(sessionId);
      case "Target.targetCreated":
      case "Target.targetInfoChanged": {
        const info = infoOf(params);
        if (!isOwn(this.#options.scope, info)) return false;
        this.#options.scope.targets.add(String(info?.targetId));
        return true;
      }
      case "Target.targetCrashed":
      case "Target.targetDestroyed":
        return this.#options.scope.targets.isKnown(String(targetId));
      default:
        return false;
    }
  }

  /** Automatic attachment concerns the targets of all contexts, and may pause them. */
  #attached(params: Params, parent: unknown): boolean {
    const info = infoOf(params);
    const { sessionId, waitingForDebugger } = params;
    if (typeof sessionId !== "string") return false;
    if (isOwn(this.#options.scope, info)) {
      this.#sessions.set(sessionId, "target");
      this.#options.scope.targets.add(String(info?.targetId));
      return true;
    }
    if (info?.type === "browser" && this.#browserAttachments > 0) {
      this.#sessions.set(sessionId, "browser");
      return true;
    }
    if (waitingForDebugger === true) this.#order("Runtime.runIfWaitingForDebugger", {}, sessionId);
    this.#order("Target.detachFromTarget", { sessionId }, parent);
    return false;
  }

  #detached(sessionId: string): boolean {
    for (const [id, { command }] of this.#pending) if (command?.sessionId === sessionId) this.#pending.delete(id);
    return this.#sessions.delete(sessionId);
  }

  #reply({ id, sessionId }: { readonly id?: unknown; readonly sessionId?: unknown }, body: object): void {
    this.#options.toClient(JSON.stringify({ id, ...body, sessionId }));
  }
}

function fieldsOf(value: unknown): Params {
  return typeof value === "object" && value !== null ? (value as Params) : {};
}

function infoOf(value: unknown): TargetInfo | undefined {
  const { targetInfo } = fieldsOf(value);
  return typeof targetInfo === "object" && targetInfo !== null ? targetInfo : undefined;
}

function commandOf(text: string): Command | { readonly problem: string; readonly id?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "The message is not JSON." };
  }
  const { id, method, params = {}, sessionId } = fieldsOf(value);
  if (typeof id !== "number" || !Number.isInteger(id)) return { problem: "id: must be an integer" };
  if (typeof method !== "string") return { id, problem: "method: must be a string" };
  if (typeof params !== "object" || params === null || Array.isArray(params))
    return { id, problem: "params: must be an object" };
  if (sessionId !== undefined && typeof sessionId !== "string") return { id, problem: "sessionId: must be a string" };
  // Chromium treats it as the browser's session.
  return { id, method, params: params as Params, sessionId: sessionId === "" ? undefined : sessionId };
}
