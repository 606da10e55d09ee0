import type { Socket } from "node:net";
import { type ClientMessages, type ClientMessagesSink, createClientMessages, type Verdict } from "./client-messages.ts";
import { encodeClose, encodeFrame, FrameError, opcode } from "../../http/frames.ts";
import type { CdpDepartureReason } from "../../browser/cdp/departure.ts";
import type { CdpGuard } from "./guard.ts";
import { createServerFrames } from "../../http/server-frames.ts";

export interface CdpSplice {
  readonly messageCount: number;
  /** Why it ended: `client_close` unless another cause came first. */
  readonly reason: CdpDepartureReason;
  /** Disconnects the client with a close frame; without one when the browser died in the middle of a message. */
  close(code: number, reason: string | undefined): void;
}

export interface SpliceOptions {
  readonly client: Socket;
  readonly browser: Socket;
  readonly guard: CdpGuard;
  /** Called once, when both sockets are closed. */
  readonly onClosed: () => void;
}

/** A client that does not answer a close frame is disconnected after this time. */
const closeTimeoutMs = 2_000;
/** The browser's connection ends before its process does: leaves time for a `close` call with the real reason. */
const browserGoneDelayMs = 500;

/** Forwards bytes both ways with backpressure; the guard inspects the client's messages. Pause both sockets first. */
export function spliceCdp(options: SpliceOptions): CdpSplice {
  return new SocketSplice(options);
}

class SocketSplice implements CdpSplice, ClientMessagesSink {
  readonly #client: Socket;
  readonly #browser: Socket;
  readonly #guard: CdpGuard;
  readonly #frames = createServerFrames();
  readonly #messages: ClientMessages;
  /** Frames of the gateway that wait for the end of the browser's current message. */
  #injected: Buffer[] = [];
  #closing = false;
  #reason: CdpDepartureReason = "client_close";
  #timer: NodeJS.Timeout | undefined;

  constructor({ client, browser, guard, onClosed }: SpliceOptions) {
    this.#client = client;
    this.#browser = browser;
    this.#guard = guard;
    this.#messages = createClientMessages(this);
    this.#followClient(onClosed);
    this.#followBrowser();
    client.resume();
    browser.resume();
  }

  get messageCount(): number {
    return this.#messages.count + this.#frames.count;
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

  forward(bytes: Buffer): void {
    if (!this.#browser.destroyed && !this.#browser.writableEnded) this.#browser.write(bytes);
  }

  inspect(message: Buffer): Verdict {
    if (this.#closing) return "drop";
    const verdict = this.#guard(message);
    if (typeof verdict === "string" || "replace" in verdict) return verdict;
    if ("later" in verdict) {
      void verdict.later.then((made) => {
        if (this.#closing) return;
        if ("replace" in made) this.#messages.send(made.replace);
        else this.#answer(made.answer);
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
      this.#releaseBrowser();
      onClosed();
    });
  }

  #followBrowser(): void {
    const browser = this.#browser;
    browser.on("data", (chunk: Buffer) => {
      this.#takeFromBrowser(chunk);
    });
    browser.on("drain", () => this.#client.resume());
    browser.on("error", () => undefined);
    browser.on("close", () => {
      if (this.#closing || this.#client.destroyed) return;
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
    const client = this.#client;
    if (client.destroyed || this.#browser.writableEnded) return;
    const boundary = this.#frames.follow(chunk);
    if (boundary === -1 || this.#injected.length === 0) client.write(chunk);
    else {
      client.write(chunk.subarray(0, boundary));
      for (const frame of this.#injected) client.write(frame);
      this.#injected = [];
      if (this.#closing) {
        this.#finishClose();
        return;
      }
      client.write(chunk.subarray(boundary));
    }
    if (client.writableNeedDrain) this.#browser.pause();
  }

  #answer(text: string): void {
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
    if (browser.writableEnded) return;
    browser.end();
    browser.resume();
    setTimeout(() => browser.destroy(), closeTimeoutMs).unref();
  }
}

function reasonOf(code: number): CdpDepartureReason {
  if (code === 1001) return "context_cancelled";
  return code === 1012 ? "upstream_changed" : "upstream_error";
}
