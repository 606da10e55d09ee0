import { BusyPages, setupText, type BusyPagesOptions } from "../../browser/cdp/busy-pages.ts";
import { sentHeadersStart, withoutProxyName } from "../../browser/cdp/sent-headers.ts";
import { createFrameReader, type FrameHeader, type FrameReader, opcode } from "../../http/frames.ts";
import { joined, type Verdict } from "./client-messages.ts";
import { parseMessage } from "./early-traffic.ts";

/** Only scripts of setup commands are larger, and other setup commands come before them. */
const maxCommandBytes = 16 * 1024;
/** Answers to setup commands and events of targets are smaller. */
const maxBytes = 64 * 1024;
const startBytes = 40;
const targetEvent = /^\{"method":"Target\.(?:attachedTo|detachedFrom)Target"/;
const answerStart = /^\{"id":(-?\d+),/;

/**
 * Applies {@link BusyPages} to the bytes of the browser and to the commands of its client. Clients see no header of the egress
 * gateway, which the browser uses as a proxy.
 */
export class BrowserMessages {
  readonly #pages: BusyPages;
  readonly #reader: FrameReader;
  #passed: Buffer[] = [];
  /** The frame of a message that may be relevant. */
  #held: Buffer[] = [];
  #text: Buffer = Buffer.alloc(0);
  #state: "passing" | "undecided" | "relevant" = "passing";
  #isControl = false;

  constructor(options: BusyPagesOptions) {
    this.#pages = new BusyPages(options);
    this.#reader = createFrameReader(
      { masked: false, maxPayloadBytes: Number.MAX_SAFE_INTEGER },
      {
        header: (header) => {
          this.#begin(header);
        },
        payload: (chunk) => {
          this.#take(chunk);
        },
        end: () => {
          this.#end();
        },
      },
    );
  }

  /** Returns the bytes for the client. */
  take(chunk: Buffer): readonly Buffer[] {
    this.#reader.push(chunk);
    const passed = joined(this.#passed);
    this.#passed = [];
    return passed;
  }

  /** Returns what to do with a command that would be sent. */
  command(message: Buffer, verdict: Verdict): Verdict {
    if (verdict === "drop" || message.length > maxCommandBytes) return verdict;
    const text = verdict === "pass" ? message.toString() : verdict.replace;
    const command = setupText.test(text) ? parseMessage(Buffer.from(text)) : undefined;
    return command === undefined || this.#pages.sent(command) ? verdict : "drop";
  }

  close(): void {
    this.#pages.close();
  }

  #begin({ final, opcode: code, payloadBytes, raw }: FrameHeader): void {
    this.#isControl = code >= opcode.close;
    if (code === opcode.text) this.#state = final && payloadBytes <= maxBytes ? "undecided" : "passing";
    this.#keep(raw);
  }

  #take(chunk: Buffer): void {
    this.#keep(chunk);
    if (this.#isControl || this.#state === "passing") return;
    this.#text = this.#text.length === 0 ? chunk : Buffer.concat([this.#text, chunk]);
    if (this.#text.length >= startBytes) this.#decide();
  }

  #end(): void {
    if (this.#isControl) return;
    this.#decide();
    if (this.#state === "passing") return;
    const [header] = this.#held;
    const text = withoutProxyName(this.#text);
    if (header !== undefined && text !== this.#text) this.#held = [header, text];
    const message = parseMessage(this.#text);
    if (message === undefined || this.#pages.received(message)) this.#pass();
    this.#held = [];
    this.#text = Buffer.alloc(0);
    this.#state = "passing";
  }

  #keep(bytes: Buffer): void {
    (this.#isControl || this.#state === "passing" ? this.#passed : this.#held).push(bytes);
  }

  #decide(): void {
    if (this.#state !== "undecided") return;
    const start = this.#text.toString("latin1", 0, startBytes);
    const id = answerStart.exec(start)?.[1];
    if (
      id === undefined ? targetEvent.test(start) || start.startsWith(sentHeadersStart) : this.#pages.expects(Number(id))
    )
      this.#state = "relevant";
    else this.#pass();
  }

  #pass(): void {
    this.#passed.push(...this.#held);
    this.#held = [];
    this.#text = Buffer.alloc(0);
    this.#state = "passing";
  }
}
