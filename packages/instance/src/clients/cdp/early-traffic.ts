import { createServerFrames } from "../../http/server-frames.ts";
import { createFrameReader, opcode } from "../../http/frames.ts";

/** A message of the protocol. Every field is checked before use. */
export interface CdpMessage {
  readonly id?: unknown;
  readonly sessionId?: unknown;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** Clients exchange about 20 KB before they open a page. */
const maxBytes = 256 * 1024;
const maxMessages = 500;
/** After these, the client has pages or contexts that another browser cannot have. */
const endings = ["Target.createTarget", "Target.createBrowserContext", "Page.navigate", "Target.closeTarget"].map(
  (method) => Buffer.from(`"${method}"`),
);

/** Keeps what a client and a blank browser say to each other, so that another browser can take over. */
export class EarlyTraffic {
  #sent: Buffer[] = [];
  #received: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  /** Whether it is incomplete: the client has opened a page, or too much was said. */
  get isOver(): boolean {
    return this.#isOver;
  }

  sent(message: Buffer): void {
    if (this.#isOver) return;
    this.#sent.push(message);
    if (endings.some((ending) => message.includes(ending)) || this.#sent.length > maxMessages) this.end();
    else this.#count(message);
  }

  received(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#received.push(chunk);
    this.#count(chunk);
  }

  end(): void {
    this.#isOver = true;
    this.#sent = [];
    this.#received = [];
  }

  get messagesSent(): readonly Buffer[] {
    return this.#sent;
  }

  messagesReceived(): readonly CdpMessage[] {
    return readMessages(Buffer.concat(this.#received)).messages;
  }

  #count({ length }: Buffer): void {
    this.#bytes += length;
    if (this.#bytes > maxBytes) this.end();
  }
}

/** Reads the complete messages of a browser, and returns the bytes after them. @throws {FrameError} */
export function readMessages(bytes: Buffer): { readonly messages: readonly CdpMessage[]; readonly rest: Buffer } {
  const end = Math.max(0, createServerFrames().follow(bytes));
  const messages: CdpMessage[] = [];
  let parts: Buffer[] = [];
  let isText = false;
  let isFinal = false;
  const reader = createFrameReader(
    { masked: false, maxPayloadBytes: Number.MAX_SAFE_INTEGER },
    {
      header(header) {
        isText = header.opcode <= opcode.text;
        isFinal = header.final;
      },
      payload(chunk) {
        if (isText) parts.push(chunk);
      },
      end() {
        if (!isText || !isFinal) return;
        const message = parseMessage(Buffer.concat(parts));
        if (message !== undefined) messages.push(message);
        parts = [];
      },
    },
  );
  reader.push(bytes.subarray(0, end));
  return { messages, rest: bytes.subarray(end) };
}

export function parseMessage(text: Buffer): CdpMessage | undefined {
  try {
    const value: unknown = JSON.parse(text.toString());
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
