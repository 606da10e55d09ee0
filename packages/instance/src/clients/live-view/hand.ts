import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { openPageSession, type PageSession } from "../../operations/computer/page-session.ts";
import { PageView } from "../../operations/computer/page-view.ts";
import { LiveInput } from "./live-input.ts";
import type { LiveViewMessage } from "./messages.ts";
import type { ViewClipboard } from "./view-clipboard.ts";

type InputMessage = Parameters<LiveInput["send"]>[0];

/** A page that is let go has this long to handle its input, in milliseconds. */
const lastInputMs = 2_000;
const pasteKey = {
  type: "key",
  key: "v",
  code: "KeyV",
  key_code: 86,
  location: 0,
  modifiers: 2,
  repeat: false,
} as const;

interface HandParts {
  readonly clipboard: ViewClipboard | undefined;
  readonly tell: (message: LiveViewMessage) => void;
}

/** A page that is attached for input. Its session also receives dialogs, which keeps them open. */
export class Hand {
  readonly session: PageSession;
  readonly input: LiveInput;
  /** Absent where the browser's own can be used. */
  readonly #clipboard: ViewClipboard | undefined;
  readonly #tell: (message: LiveViewMessage) => void;
  readonly #stops: readonly (() => void)[];
  #sent: Promise<unknown> = Promise.resolve();

  constructor(session: PageSession, { clipboard, tell }: HandParts) {
    const { cdp, sessionId } = session;
    this.session = session;
    this.input = new LiveInput(cdp, sessionId);
    this.#clipboard = clipboard;
    this.#tell = tell;
    this.#stops = [
      cdp.on("Page.javascriptDialogOpening", ({ type, message, defaultPrompt = "" }, from) => {
        if (from === sessionId) tell({ type: "dialog", dialog: { kind: type, message, default_text: defaultPrompt } });
      }),
      cdp.on("Page.javascriptDialogClosed", (_event, from) => {
        if (from === sessionId) tell({ type: "dialog", dialog: null });
      }),
    ];
  }

  static async take(cdp: CdpConnection, targetId: string, parts: HandParts): Promise<Hand> {
    return new Hand(await openPageSession(cdp, targetId), parts);
  }

  get clipboard(): Pick<ViewClipboard, "readClipboard" | "writeClipboard"> {
    return this.#clipboard ?? new PageView(this.session);
  }

  send(message: InputMessage): void {
    if (this.#clipboard === undefined) this.input.send(message);
    else this.#sent = this.#clipboard.send(message, this);
  }

  async paste(text: string): Promise<void> {
    try {
      await this.clipboard.writeClipboard(text);
    } catch {
      // The page blocks clipboard writes, or a frame of another site has the focus.
      this.input.send({ type: "text", text });
      return;
    }
    if (this.#clipboard === undefined) {
      this.input.send({ ...pasteKey, action: "down" });
      this.input.send({ ...pasteKey, action: "up" });
    } else this.send({ type: "text", text });
  }

  /** Resolves when the page has handled all input so far. A page with an open dialog does so when it closes. */
  async handled(): Promise<void> {
    await this.#sent;
    // A session that has ended gets no more answers.
    await Promise.race([this.input.processed(), this.session.end]);
  }

  /** Releases its keys and buttons. The session ends when the page has handled them. */
  letGo(): void {
    this.input.release();
    for (const stop of this.#stops) stop();
    this.#tell({ type: "dialog", dialog: null });
    void this.session
      .outcome(this.handled(), lastInputMs)
      .catch(() => undefined)
      .then(() => this.session.close())
      .catch(() => undefined);
  }
}
