import type { ReplContent } from "@shoal/schemas";
import { maxImageCharacters, maxTextCharacters } from "./messages.ts";

/** Fields of a message, which user code can forge. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Output {
  readonly content: ReplContent[];
  readonly content_truncated: boolean;
}

/** Each costs memory as well as its characters do. */
const maxParts = 10_000;

/** Output that no answer has yet, within the limits of an answer. */
export class OutputBuffer {
  #content: ReplContent[] = [];
  #characters = { text: 0, image: 0 };
  #isCut = false;

  /** Output since the previous call of this method. */
  take(): Output {
    const output = { content: this.#content, content_truncated: this.#isCut };
    this.#content = [];
    this.#characters = { text: 0, image: 0 };
    this.#isCut = false;
    return output;
  }

  /** Adds what another buffer has, and empties it. */
  takeFrom(other: OutputBuffer): void {
    const { content, content_truncated } = other.take();
    for (const { channel, data_b64, mime_type, text, type } of content)
      if (type === "text") this.addText({ channel, text });
      else this.addImage({ base64: data_b64, mimeType: mime_type });
    this.#isCut ||= content_truncated;
  }

  addText({ channel, text }: Fields): void {
    if (channel !== "write" && channel !== "stdout" && channel !== "stderr") return;
    if (typeof text !== "string" || text === "") return;
    const room = maxTextCharacters - this.#characters.text;
    if (text.length > room) this.#isCut = true;
    if (room <= 0) return;
    const kept = text.slice(0, room);
    const last = this.#content.at(-1);
    if (last?.type === "text" && last.channel === channel && channel !== "write")
      last.text = `${last.text ?? ""}${kept}`;
    else if (!this.#add({ type: "text", channel, text: kept })) return;
    this.#characters.text += kept.length;
  }

  addImage({ base64, mimeType }: Fields): void {
    if (typeof mimeType !== "string" || !/^image\/[a-z]{1,20}$/.test(mimeType)) return;
    if (typeof base64 !== "string" || base64 === "") return;
    if (base64.length > maxImageCharacters - this.#characters.image || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
      this.#isCut = true;
      return;
    }
    if (this.#add({ type: "image", mime_type: mimeType, data_b64: base64 })) this.#characters.image += base64.length;
  }

  #add(part: ReplContent): boolean {
    if (this.#content.length < maxParts) return this.#content.push(part) > 0;
    this.#isCut = true;
    return false;
  }
}
