import type { Socket } from "node:net";
import { createClientMessages } from "./client-messages.ts";
import { encodeClose, encodeFrame, FrameError, opcode } from "./frames.ts";
import type { CdpGuard } from "./guard.ts";
import { createServerFrames } from "./server-frames.ts";

/** Why a client is no longer connected. */
export type CdpDepartureReason = "client_close" | "upstream_changed" | "upstream_error" | "context_cancelled";

/** One CDP client, joined with the browser. */
export interface CdpSplice {
  /** Whole messages in both directions so far. */
  readonly messageCount: number;
  /** Why it ends, once it does: the client's own doing unless something else came first. */
  readonly reason: CdpDepartureReason;
  /** Ends the client with a close frame where the stream of frames allows one; without it, where the browser died in the midst of a message. */
  close(code: number, reason: string | undefined): void;
}

export interface SpliceOptions {
  readonly client: Socket;
  readonly browser: Socket;
  readonly guard: CdpGuard;
  /** Called once, when nothing is left of the connection. */
  readonly onClosed: () => void;
}

/** A client that does not answer a close frame is let go. */
const closeTimeoutMs = 2_000;
/** The browser's connection ends before its process does: time for `close` to be called with the real reason. */
const browserGoneDelayMs = 500;

/** Passes bytes both ways, each side waiting for the other; the guard sees the client's messages. Both sockets must be paused. */
export function spliceCdp({ client, browser, guard, onClosed }: SpliceOptions): CdpSplice {
  const frames = createServerFrames();
  /** Frames of our own that wait for the end of the browser's present message. */
  let injected: Buffer[] = [];
  let closing = false;
  let reason: CdpDepartureReason = "client_close";
  let timer: NodeJS.Timeout | undefined;

  const messages = createClientMessages({
    forward(bytes) {
      if (!browser.destroyed && !browser.writableEnded) browser.write(bytes);
    },
    inspect(message) {
      if (closing) return "drop";
      const verdict = guard(message);
      if (typeof verdict === "string" || "replace" in verdict) return verdict;
      if ("later" in verdict) {
        void verdict.later.then((made) => {
          if (closing) return;
          if ("replace" in made) messages.send(made.replace);
          else inject(encodeFrame(opcode.text, Buffer.from(made.answer)));
        });
        return "drop";
      }
      const text = "answer" in verdict ? verdict.answer : verdict.answerAndClose;
      inject(encodeFrame(opcode.text, Buffer.from(text)));
      if ("answerAndClose" in verdict) beginClose(encodeClose(1000, "Browser.close ends this connection, not the session"));
      return "drop";
    },
    control(code, payload) {
      if (code === opcode.ping) inject(encodeFrame(opcode.pong, payload));
      else if (code === opcode.close) beginClose(encodeFrame(opcode.close, payload.subarray(0, 2)));
    },
  });

  function inject(frame: Buffer): void {
    if (closing || client.destroyed) return;
    if (frames.atBoundary) client.write(frame);
    else injected.push(frame);
  }

  /** Sends the close frame as soon as it may stand in the stream, and nothing of the browser after it. */
  function beginClose(frame: Buffer): void {
    if (closing) return;
    inject(frame);
    closing = true;
    if (injected.length === 0) finishClose();
    else timer = setTimeout(destroy, closeTimeoutMs);
  }

  function finishClose(): void {
    letBrowserGo();
    client.end();
    // The client's own close frame, and whatever it sends before, is read and forgotten.
    client.resume();
    clearTimeout(timer);
    timer = setTimeout(destroy, closeTimeoutMs);
  }

  function destroy(): void {
    letBrowserGo();
    client.destroy();
  }

  /** The browser forgets what the client has set before it closes its end, so the connection's `close` means that it has. */
  function letBrowserGo(): void {
    if (browser.writableEnded) return;
    browser.end();
    browser.resume();
    setTimeout(() => browser.destroy(), closeTimeoutMs).unref();
  }

  client.on("data", (chunk: Buffer) => {
    if (closing) return;
    browser.cork();
    try {
      messages.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      beginClose(encodeClose(error.code, error.message));
    }
    browser.uncork();
    if (browser.writableNeedDrain && !browser.destroyed) client.pause();
  });
  browser.on("drain", () => client.resume());

  browser.on("data", (chunk: Buffer) => {
    if (client.destroyed || browser.writableEnded) return;
    const boundary = frames.follow(chunk);
    if (boundary === -1 || injected.length === 0) client.write(chunk);
    else {
      client.write(chunk.subarray(0, boundary));
      for (const frame of injected) client.write(frame);
      injected = [];
      if (closing) {
        finishClose();
        return;
      }
      client.write(chunk.subarray(boundary));
    }
    if (client.writableNeedDrain) browser.pause();
  });
  client.on("drain", () => browser.resume());

  // Errors are followed by `close`.
  client.on("error", () => undefined);
  browser.on("error", () => undefined);
  client.on("end", destroy);
  client.on("close", () => {
    clearTimeout(timer);
    letBrowserGo();
    onClosed();
  });
  browser.on("close", () => {
    if (closing || client.destroyed) return;
    clearTimeout(timer);
    timer = setTimeout(close, browserGoneDelayMs, 1011, "the browser closed the connection");
  });

  /** Leaves the close frame to the service, which adds it where the last message is whole. */
  function endWithoutFrame(): void {
    closing = true;
    clearTimeout(timer);
    finishClose();
  }

  function close(code: number, said: string | undefined): void {
    if (!closing) reason = reasonOf(code);
    if (said === undefined) endWithoutFrame();
    else if (!frames.atBoundary && browser.destroyed) destroy();
    else beginClose(encodeClose(code, said));
  }

  client.resume();
  browser.resume();
  return {
    close,
    get messageCount() {
      return messages.count + frames.count;
    },
    get reason() {
      return reason;
    },
  };
}

function reasonOf(code: number): CdpDepartureReason {
  if (code === 1001) return "context_cancelled";
  return code === 1012 ? "upstream_changed" : "upstream_error";
}
