import type { Socket } from "node:net";
import pTimeout from "p-timeout";
import { encodeFrame, opcode } from "../../http/frames.ts";
import { type CdpMessage, type EarlyTraffic, parseMessage, readMessages } from "./early-traffic.ts";
import type { CdpGuard } from "./guard.ts";
import { IdTranslation } from "./id-translation.ts";

export interface ReplayOptions {
  readonly early: EarlyTraffic;
  /** Connected to the present browser, and paused. */
  readonly browser: Socket;
  readonly guard: CdpGuard;
  /** Ids of the earlier browser's targets, each with the present target in its place. */
  readonly targets: ReadonlyMap<string, string>;
  /** Sends a message to the client. */
  readonly tell: (text: string) => void;
}

/** A command that the present browser does not answer by then is left alone. Milliseconds. */
const answerMs = 3_000;
const skipped: ReadonlySet<unknown> = new Set(["Page.close", "Browser.crash", "Runtime.terminateExecution"]);

/** Brings a browser into the state that a client knows from the earlier one. Leaves the socket paused. */
export async function replay(options: ReplayOptions): Promise<IdTranslation> {
  const run = new Replay(options);
  try {
    await run.all();
    return run.translation;
  } finally {
    run.stop();
  }
}

interface Attachment {
  readonly sessionId: string;
  readonly targetId: string;
  readonly type: unknown;
  readonly parent: unknown;
}

class Replay {
  readonly translation = new IdTranslation();
  readonly #options: ReplayOptions;
  readonly #answered: ReadonlyMap<unknown, CdpMessage>;
  readonly #attachments: Attachment[];
  readonly #attached = new Map<string, () => void>();
  readonly #answers = new Map<unknown, (message: CdpMessage) => void>();
  #bytes = Buffer.alloc(0);

  constructor(options: ReplayOptions) {
    this.#options = options;
    const received = options.early.messagesReceived();
    this.#answered = new Map(received.filter(({ id }) => id !== undefined).map((message) => [message.id, message]));
    const left = new Set(received.map((message) => detachedSession(message)));
    this.#attachments = received
      .flatMap((message) => attachmentOf(message) ?? [])
      .filter(({ sessionId }) => !left.has(sessionId));
    for (const [earlier, present] of options.targets) this.translation.add(earlier, present);
    options.browser.on("data", this.#onData);
    options.browser.resume();
  }

  async all(): Promise<void> {
    for (const message of this.#options.early.messagesSent) await this.#repeat(message);
    for (const { parent, sessionId, targetId } of this.#attachments)
      this.#tell({
        method: "Target.detachedFromTarget",
        params: { sessionId, targetId },
        ...(parent !== undefined && { sessionId: parent }),
      });
  }

  stop(): void {
    const { browser } = this.#options;
    browser.off("data", this.#onData);
    browser.pause();
    if (this.#bytes.length > 0) browser.unshift(this.#bytes);
  }

  async #repeat(sent: Buffer): Promise<void> {
    const command = parseMessage(sent);
    if (command === undefined || skipped.has(command.method)) return;
    const { id, method, sessionId } = command;
    if (typeof sessionId === "string" && !(await this.#hasSession(sessionId))) return;
    const text = await this.#allowed(this.translation.toBrowser(sent));
    if (text === undefined) return;
    // The new document reports its contexts again.
    if (method === "Runtime.enable") this.#tell({ method: "Runtime.executionContextsCleared", params: {}, sessionId });
    const before = this.#answered.get(id);
    const answer = before === undefined ? undefined : this.#answerTo(id);
    this.#options.browser.write(encodeFrame(opcode.text, text, { masked: true }));
    if (answer === undefined) return;
    const present = await pTimeout(answer, { milliseconds: answerMs, fallback: () => undefined });
    const [earlierSession, presentSession] = [before?.result?.sessionId, present?.result?.sessionId];
    if (typeof earlierSession === "string" && typeof presentSession === "string")
      this.#match(earlierSession, presentSession);
  }

  /** Returns the command as the guard lets it pass. */
  async #allowed(message: Buffer): Promise<Buffer | undefined> {
    const verdict = this.#options.guard(message);
    if (verdict === "pass") return message;
    if (verdict === "drop" || "answer" in verdict || "answerAndClose" in verdict) return undefined;
    const made = "later" in verdict ? await verdict.later : verdict;
    return "replace" in made ? Buffer.from(made.replace) : undefined;
  }

  /** Waits for the event of an automatic attachment. */
  async #hasSession(earlier: string): Promise<boolean> {
    if (this.translation.browserIdOf(earlier) !== undefined) return true;
    if (!this.#attachments.some(({ sessionId }) => sessionId === earlier)) return false;
    const attached = new Promise<void>((resolve) => this.#attached.set(earlier, resolve));
    await pTimeout(attached, { milliseconds: answerMs, fallback: () => undefined });
    return this.translation.browserIdOf(earlier) !== undefined;
  }

  #answerTo(id: unknown): Promise<CdpMessage> {
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  readonly #onData = (chunk: Buffer): void => {
    const { messages, rest } = readMessages(Buffer.concat([this.#bytes, chunk]));
    this.#bytes = Buffer.from(rest);
    for (const message of messages) this.#receive(message);
  };

  #receive(message: CdpMessage): void {
    const waiting = this.#answers.get(message.id);
    if (waiting !== undefined) {
      this.#answers.delete(message.id);
      waiting(message);
      return;
    }
    const attached = attachmentOf(message);
    if (attached !== undefined && (attached.type === "browser" || this.#isKnown(attached))) return;
    if (message.method === "Target.targetCreated" && this.#isReplaced(message)) return;
    this.#tell(message);
  }

  /** Whether the client has this attachment already. */
  #isKnown(present: Attachment): boolean {
    const found = this.#attachments.find(
      ({ parent, targetId }) =>
        this.translation.browserIdOf(targetId) === present.targetId &&
        (typeof parent === "string" ? this.translation.browserIdOf(parent) : undefined) === present.parent,
    );
    if (found !== undefined) this.#match(found.sessionId, present.sessionId);
    return found !== undefined;
  }

  #match(earlier: string, present: string): void {
    if (this.translation.browserIdOf(earlier) === undefined) this.translation.add(earlier, present);
    const place = this.#attachments.findIndex(({ sessionId }) => sessionId === earlier);
    if (place !== -1) this.#attachments.splice(place, 1);
    this.#attached.get(earlier)?.();
  }

  #isReplaced({ params }: CdpMessage): boolean {
    const { targetId } = (params?.targetInfo ?? {}) as { readonly targetId?: unknown };
    return [...this.#options.targets.values()].some((present) => present === targetId);
  }

  #tell(message: object): void {
    this.#options.tell(this.translation.toClient(Buffer.from(JSON.stringify(message))).toString());
  }
}

function attachmentOf({ method, params, sessionId: parent }: CdpMessage): Attachment | undefined {
  if (method !== "Target.attachedToTarget") return undefined;
  const { sessionId, targetInfo } = params as {
    readonly sessionId?: unknown;
    readonly targetInfo?: { readonly targetId?: unknown; readonly type?: unknown };
  };
  const { targetId, type } = targetInfo ?? {};
  return typeof sessionId === "string" && typeof targetId === "string"
    ? { sessionId, targetId, type, parent }
    : undefined;
}

function detachedSession({ method, params }: CdpMessage): unknown {
  return method === "Target.detachedFromTarget" ? params?.sessionId : undefined;
}
