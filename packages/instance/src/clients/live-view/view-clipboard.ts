import type { PageSession } from "../../operations/computer/page-session.ts";
import type { LiveInput } from "./live-input.ts";

type InputMessage = Parameters<LiveInput["send"]>[0];

interface Hand {
  readonly input: LiveInput;
  readonly session: PageSession;
}

const answerMs = 2_000;
const controlOrMeta = 2 | 4;
const copyKeys: ReadonlySet<string> = new Set(["c", "x"]);
const maxCharacters = 1_000_000;

const selectedText = `(() => {
  const at = document.activeElement;
  const isField = at instanceof HTMLTextAreaElement || (at instanceof HTMLInputElement && at.type !== "password");
  const text = isField ? at.value.slice(at.selectionStart ?? 0, at.selectionEnd ?? 0) : String(getSelection());
  return text.slice(0, ${String(maxCharacters)});
})()`;

/** Takes the place of a clipboard that other sessions use as well. It keeps the text that viewers copy or enter. */
export class ViewClipboard {
  #text: Promise<string> = Promise.resolve("");
  #sent: Promise<unknown> = Promise.resolve();

  /**
   * Sends input in order. A key that copies waits until the selection is read, because cutting removes it. The selection
   * is read when the page has processed the earlier input, which may have changed it: commands can overtake input.
   * @returns a promise that resolves when it is sent.
   */
  send(message: InputMessage, hand: Hand): Promise<unknown> {
    if (copies(message)) {
      const earlier = this.#text;
      this.#text = this.#sent.then(() => this.#selection(hand, earlier));
      this.#sent = this.#text;
    }
    this.#sent = this.#sent.then(() => {
      hand.input.send(message);
    });
    return this.#sent;
  }

  readClipboard(): Promise<string> {
    return this.#text;
  }

  writeClipboard(text: string): Promise<void> {
    this.#text = Promise.resolve(text);
    return Promise.resolve();
  }

  /** As in a browser, the earlier text stays when nothing is selected. */
  async #selection({ input, session }: Hand, earlier: Promise<string>): Promise<string> {
    const { cdp, sessionId } = session;
    try {
      await session.outcome(input.processed(), answerMs);
      const asked = cdp.send("Runtime.evaluate", { expression: selectedText, returnByValue: true }, sessionId);
      const outcome = await session.outcome(asked, answerMs);
      const value: unknown = outcome.kind === "done" ? outcome.result.result.value : undefined;
      return typeof value === "string" && value !== "" ? value.slice(0, maxCharacters) : await earlier;
    } catch {
      // The page is closed or has crashed.
      return earlier;
    }
  }
}

function copies(message: InputMessage): boolean {
  return (
    message.type === "key" &&
    message.action === "down" &&
    (message.modifiers & controlOrMeta) !== 0 &&
    copyKeys.has(message.key.toLowerCase())
  );
}
