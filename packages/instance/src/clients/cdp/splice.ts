import type { Socket } from "node:net";
import { type ClientMessagesSink, type Verdict, ClientMessages } from "./client-messages.ts";
import { encodeClose, encodeFrame, FrameError, opcode } from "../../http/frames.ts";
import type { CdpDepartureReason } from "../../browser/cdp/departure.ts";
import { BrowserMessages } from "./browser-messages.ts";
import type { EarlyTraffic } from "./early-traffic.ts";
import type { CdpGuard } from "./guard.ts";
import type { IdTranslation } from "./id-translation.ts";
import { maxHeldBytes } from "./pausing-guard.ts";
import type { CdpSplice, NewBrowser, SpliceOptions } from "./splice-options.ts";
import { createServerFrames } from "../../http/server-frames.ts";

interface HeldMessage {
  readonly message: Buffer;
  readonly isPrepared: boolean;
}

type HeldItem = HeldMessage | { readonly bytes: Buffer };

/** A client that does not answer a close frame is disconnected after this time. */
const closeTimeoutMs = 2_000;
/** The browser's connection ends before its process does: leaves time for a `close` call with the real reason. */
const browserGoneDelayMs = 500;
/** The browser never answers some commands, such as those to a page that was closed meanwhile. */
const longestAnswerMs = 15 * 60_000;
/** Of a client whose ids are translated: larger messages pass with the ids that it knows. */
const maxTranslatedBytes = 32 * 2 ** 20;

/** Forwards bytes both ways with backpressure; the guard inspects the client's messages. Pause both sockets first. */
export function spliceCdp(options: SpliceOptions): CdpSplice {
  return new SocketSplice(options);
}

class SocketSplice implements CdpSplice, ClientMessagesSink {
  readonly early: EarlyTraffic;
  readonly #client: Socket;
  readonly #prepare: SpliceOptions["prepare"];
  readonly #onSent: SpliceOptions["onSent"];
  readonly mustInspect: () => boolean;
  readonly maxInspectedBytes = maxHeldBytes;
  #browser: Socket;
  #guard: CdpGuard;
  #beforeLeaving: SpliceOptions["beforeLeaving"];
  #frames = createServerFrames();
  #received = this.#followMessages();
  #translation: IdTranslation | undefined;
  /** Messages of the client that wait for another browser: whole ones, or parts of a large one. */
  #hasLeft = false;
  #holds = 0;
  #held: HeldItem[] | undefined;
  readonly #messages: ClientMessages;
  /** Frames of the gateway that wait for the end of the browser's current message. */
  #injected: Buffer[] = [];
  /** Commands that have an answer, without those of {@link #frames}. */
  #answered = 0;
  #lastCommandMs = performance.now();
  #closing = false;
  /** The browser that is being left. */
  #leaving: Socket | undefined;
  #reason: CdpDepartureReason = "client_close";
  #timer: NodeJS.Timeout | undefined;

  constructor({ beforeLeaving, browser, client, early, guard, mustInspect, onClosed, onSent, prepare }: SpliceOptions) {
    this.#client = client;
    this.#browser = browser;
    this.#guard = guard;
    this.#beforeLeaving = beforeLeaving;
    this.#prepare = prepare;
    this.#onSent = onSent;
    this.mustInspect = mustInspect;
    this.early = early;
    this.#messages = new ClientMessages(this);
    this.#followClient(onClosed);
    this.#followBrowser(browser);
    client.resume();
    browser.resume();
  }

  get counts(): CdpSplice["counts"] {
    return { messageCount: this.#messages.count + this.#frames.count, unreadCount: this.#messages.unread };
  }

  get atBoundary(): boolean {
    return this.#frames.atBoundary;
  }

  get isQuiet(): boolean {
    const isAnswered =
      this.#messages.count <= this.#answered + this.#frames.answers ||
      performance.now() - this.#lastCommandMs > longestAnswerMs;
    return (
      isAnswered &&
      this.atBoundary &&
      this.#messages.isBetweenMessages &&
      this.#held === undefined &&
      this.#injected.length === 0 &&
      this.#client.writableLength === 0 &&
      this.#browser.writableLength === 0
    );
  }

  get reason(): CdpDepartureReason {
    return this.#reason;
  }

  close(code: number, said: string | undefined): void {
    if (!this.#closing) this.#reason = reasonOf(code);
    if (said === undefined) {
      // The service adds the close frame after the last whole message.
      this.#closing = true;
      this.#finishClose();
    } else if (!this.#frames.atBoundary && this.#browser.destroyed) this.#destroy();
    else this.#beginClose(encodeClose(code, said));
  }

  hold(): void {
    this.#holds++;
    this.#held ??= [];
    this.#client.pause();
  }

  leaveBrowser(): void {
    this.#hasLeft = true;
  }

  tell(text: string): void {
    this.#inject(encodeFrame(opcode.text, Buffer.from(text)));
  }

  adopt({ beforeLeaving, guard, socket, translation }: NewBrowser): void {
    if (this.#closing || this.#client.destroyed) {
      socket.end();
      return;
    }
    this.#browser.destroy();
    this.#browser = socket;
    this.#guard = guard;
    this.#beforeLeaving = beforeLeaving;
    this.#translation = translation;
    this.#hasLeft = false;
    this.#answered += this.#frames.answers;
    this.#frames = createServerFrames();
    this.#received.close();
    this.#received = this.#followMessages();
    // Ids in large messages are translated too.
    this.#messages.inspectUpTo(maxTranslatedBytes);
    clearTimeout(this.#timer);
    this.early.end();
    this.#followBrowser(socket);
    socket.resume();
  }

  release(): void {
    this.#holds--;
    if (this.#holds > 0) return;
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const item of held) {
      // A command before it is held again.
      const again = this.#heldAgain();
      if (again !== undefined) again.push(item);
      else if ("bytes" in item) this.forward(item.bytes);
      else this.#pass(item);
    }
    if (this.#heldAgain() === undefined) this.#client.resume();
  }

  forward(bytes: Buffer): void {
    if (this.#held !== undefined) {
      this.#held.push({ bytes });
      return;
    }
    if (!this.#browser.destroyed && this.#leaving !== this.#browser) this.#browser.write(bytes);
  }

  inspect(message: Buffer): Verdict {
    if (this.#closing) return "drop";
    this.#lastCommandMs = performance.now();
    if (this.#held !== undefined) {
      this.#held.push({ message, isPrepared: false });
      return "drop";
    }
    const preparing = this.#prepare(message);
    if (preparing === undefined) return this.#translate(message);
    this.#wait(message, preparing);
    return "drop";
  }

  #translate(message: Buffer): Verdict {
    this.early.sent(message);
    const translated = this.#translation?.toBrowser(message) ?? message;
    const verdict = this.#received.command(translated, this.#judge(translated));
    if (verdict !== "drop") this.#onSent(message);
    return verdict === "pass" && translated !== message ? { replace: translated.toString() } : verdict;
  }

  #followMessages(): BrowserMessages {
    return new BrowserMessages({
      send: (command) => {
        this.#messages.send(JSON.stringify(command));
      },
      tell: (message) => {
        const json = Buffer.from(JSON.stringify(message));
        const text = (this.#translation?.toClient(json) ?? json).toString();
        if ("id" in message) this.#answer(text);
        else this.tell(text);
      },
    });
  }

  #judge(message: Buffer): Verdict {
    const verdict = this.#guard(message);
    if (typeof verdict === "string" || "replace" in verdict) return verdict;
    if ("later" in verdict) {
      void verdict.later.then((made) => {
        if (this.#closing) return;
        if ("answer" in made) this.#answer(made.answer);
        else if (this.#received.command(Buffer.from(made.replace), made) !== "drop") {
          this.#onSent(message);
          this.#messages.send(made.replace);
        }
      });
      return "drop";
    }
    if ("answer" in verdict) this.#answer(verdict.answer);
    else {
      this.#answer(verdict.answerAndClose);
      this.#beginClose(encodeClose(1000, "Browser.close ends this connection, not the session"));
    }
    return "drop";
  }

  control(code: number, payload: Buffer): void {
    if (code === opcode.ping) this.#inject(encodeFrame(opcode.pong, payload));
    else if (code === opcode.close) this.#beginClose(encodeFrame(opcode.close, payload.subarray(0, 2)));
  }

  /** Holds a command until it can be sent, or has an answer. */
  #wait(message: Buffer, preparing: Promise<string | undefined>): void {
    this.hold();
    void preparing.then((answer) => {
      if (answer === undefined) this.#held?.unshift({ message, isPrepared: true });
      else this.#answer(answer);
      this.release();
    });
  }

  #heldAgain(): HeldItem[] | undefined {
    return this.#held;
  }

  /** Sends a message that was held. */
  #pass({ isPrepared, message }: HeldMessage): void {
    const verdict = isPrepared ? this.#translate(message) : this.inspect(message);
    if (verdict !== "drop") this.#messages.send(verdict === "pass" ? message.toString() : verdict.replace);
  }

  #followClient(onClosed: () => void): void {
    const client = this.#client;
    client.on("data", (chunk: Buffer) => {
      this.#takeFromClient(chunk);
    });
    client.on("drain", () => this.#browser.resume());
    // Errors are followed by `close`.
    client.on("error", () => undefined);
    client.on("end", () => {
      this.#destroy();
    });
    client.on("close", () => {
      clearTimeout(this.#timer);
      this.#received.close();
      this.#releaseBrowser();
      onClosed();
    });
  }

  #followBrowser(browser: Socket): void {
    browser.on("data", (chunk: Buffer) => {
      if (browser === this.#browser) this.#takeFromBrowser(chunk);
    });
    browser.on("drain", () => {
      if (this.#held === undefined) this.#client.resume();
    });
    browser.on("error", () => undefined);
    browser.on("close", () => {
      // A held client waits for another browser.
      if (this.#closing || this.#client.destroyed || browser !== this.#browser || this.#held !== undefined) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => {
        this.close(1011, "the browser closed the connection");
      }, browserGoneDelayMs);
    });
  }

  #takeFromClient(chunk: Buffer): void {
    if (this.#closing) return;
    const browser = this.#browser;
    browser.cork();
    try {
      this.#messages.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#beginClose(encodeClose(error.code, error.message));
    }
    browser.uncork();
    if (browser.writableNeedDrain && !browser.destroyed) this.#client.pause();
  }

  #takeFromBrowser(chunk: Buffer): void {
    for (const bytes of this.#received.take(chunk)) this.#passToClient(bytes);
  }

  #passToClient(chunk: Buffer): void {
    const client = this.#client;
    if (client.destroyed || this.#leaving === this.#browser || this.#hasLeft) return;
    this.early.received(chunk);
    const followed = this.#frames.follow(chunk);
    const { boundary, bytes } = this.#translation?.chunkToClient(chunk, followed) ?? {
      bytes: chunk,
      boundary: followed,
    };
    if (boundary === -1 || this.#injected.length === 0) client.write(bytes);
    else {
      client.write(bytes.subarray(0, boundary));
      for (const frame of this.#injected) client.write(frame);
      this.#injected = [];
      if (this.#closing) {
        this.#finishClose();
        return;
      }
      client.write(bytes.subarray(boundary));
    }
    if (client.writableNeedDrain) this.#browser.pause();
  }

  #answer(text: string): void {
    this.#answered++;
    this.#inject(encodeFrame(opcode.text, Buffer.from(text)));
  }

  #inject(frame: Buffer): void {
    if (this.#closing || this.#client.destroyed) return;
    if (this.#frames.atBoundary) this.#client.write(frame);
    else this.#injected.push(frame);
  }

  /** Sends the close frame at the next frame boundary, and no more data of the browser after it. */
  #beginClose(frame: Buffer): void {
    if (this.#closing) return;
    this.#inject(frame);
    this.#closing = true;
    if (this.#injected.length === 0) this.#finishClose();
    else this.#destroyLater();
  }

  #finishClose(): void {
    this.#releaseBrowser();
    this.#client.end();
    // Reads and discards the client's remaining data, including its close frame.
    this.#client.resume();
    this.#destroyLater();
  }

  #destroyLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#destroy();
    }, closeTimeoutMs);
  }

  #destroy(): void {
    this.#releaseBrowser();
    this.#client.destroy();
  }

  /** The browser drops the client's settings before it closes its side, so `close` means that they are gone. */
  #releaseBrowser(): void {
    const browser = this.#browser;
    if (this.#leaving === browser) return;
    this.#leaving = browser;
    // Its remaining messages have no reader.
    browser.resume();
    const ready = this.#beforeLeaving();
    if (ready === undefined) endBrowser(browser);
    else
      void ready.then(() => {
        endBrowser(browser);
      });
  }
}

function endBrowser(browser: Socket): void {
  browser.end();
  setTimeout(() => browser.destroy(), closeTimeoutMs).unref();
}

function reasonOf(code: number): CdpDepartureReason {
  if (code === 1001) return "context_cancelled";
  return code === 1012 ? "upstream_changed" : "upstream_error";
}
