import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createFrameReader, encodeClose, encodeFrame, FrameError, opcode, unmask } from "../cdp/frames.ts";
import { acceptUpgrade } from "../cdp/handshake.ts";
import { maxViewerMessageBytes } from "./messages.ts";

/** The last number of RFC 6455, section 1.3. */
const handshakeGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** How long a viewer may take to answer a close. */
const closeTimeoutMs = 2_000;
/** A viewer that is gone without a word must not keep the session in use. */
const pingMs = 15_000;
const silentPings = 3;
/** More than this waits for a slow viewer: nothing is added. */
const maxWaitingBytes = 8 * 2 ** 20;

/** A viewer's WebSocket. */
export interface ViewerSocket {
  /** Bytes that the viewer has not taken. */
  readonly waitingBytes: number;
  sendText(text: string): void;
  sendBinary(bytes: Buffer): void;
  close(code: number, reason: string): void;
}

/** What a viewer does. */
export interface ViewerSocketSink {
  message(text: string): void;
  /** Called once, when nothing more comes. */
  closed(): void;
}

/** Answers a handshake that was checked and takes the connection over. */
export function acceptViewer(request: IncomingMessage, socket: Socket, head: Buffer, sink: ViewerSocketSink): ViewerSocket {
  let pieces: Buffer[] = [];
  let messageBytes = 0;
  let control: Buffer[] = [];
  let code = 0;
  let final = true;
  let mask: Buffer | undefined;
  let offset = 0;
  let closing = false;
  let unanswered = 0;
  const pings = setInterval(() => {
    if (unanswered++ >= silentPings) socket.destroy();
    else write(encodeFrame(opcode.ping, Buffer.alloc(0)));
  }, pingMs);

  function write(frame: Buffer): void {
    if (closing || socket.destroyed) return;
    if (socket.writableLength > maxWaitingBytes) {
      socket.destroy();
      return;
    }
    socket.write(frame);
  }

  function close(closeCode: number, reason: string): void {
    if (closing) return;
    closing = true;
    clearInterval(pings);
    socket.end(encodeClose(closeCode, reason));
    socket.resume();
    setTimeout(() => socket.destroy(), closeTimeoutMs).unref();
  }

  function endFrame(): void {
    if (code === opcode.close) close(1000, "");
    else if (code === opcode.ping) write(encodeFrame(opcode.pong, Buffer.concat(control)));
    else if (code < opcode.close && final) {
      const text = Buffer.concat(pieces).toString();
      pieces = [];
      messageBytes = 0;
      sink.message(text);
    }
  }

  const reader = createFrameReader(
    { masked: true, maxPayloadBytes: maxViewerMessageBytes },
    {
      header(header) {
        ({ opcode: code, mask, final } = header);
        offset = 0;
        control = [];
        if (code === opcode.binary) throw new FrameError(1003, "messages of viewers are text");
      },
      payload(chunk) {
        const plain = mask === undefined ? chunk : unmask(chunk, mask, offset);
        offset += chunk.length;
        if (code >= opcode.close) {
          control.push(plain);
          return;
        }
        messageBytes += plain.length;
        if (messageBytes > maxViewerMessageBytes) throw new FrameError(1009, `a message of more than ${String(maxViewerMessageBytes)} bytes`);
        pieces.push(plain);
      },
      end: endFrame,
    },
  );

  const accept = createHash("sha1")
    .update((request.headers["sec-websocket-key"] ?? "") + handshakeGuid)
    .digest("base64");
  socket.setNoDelay(true);
  socket.write(acceptUpgrade(accept));
  socket.on("data", (chunk: Buffer) => {
    if (closing) return;
    unanswered = 0;
    try {
      reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      close(error.code, error.message);
    }
  });
  socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    closing = true;
    clearInterval(pings);
    sink.closed();
  });
  if (head.length > 0) socket.unshift(head);
  socket.resume();

  return {
    get waitingBytes() {
      return socket.writableLength;
    },
    sendText(text) {
      write(encodeFrame(opcode.text, Buffer.from(text)));
    },
    sendBinary(bytes) {
      write(encodeFrame(opcode.binary, bytes));
    },
    close,
  };
}
