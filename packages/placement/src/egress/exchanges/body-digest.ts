import { createHash } from "node:crypto";

/** Recognizes the body of a repeated request. Browsers choose another boundary for each multipart body, so only its length counts. */
export class BodyDigest {
  readonly #hash = createHash("sha256");
  readonly #isMultipart: boolean;
  #length = 0;
  #result: string | undefined;

  constructor(contentType: string | undefined) {
    this.#isMultipart = contentType?.toLowerCase().startsWith("multipart/") === true;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    // After a broken answer, the rest of the request does not matter.
    if (!this.#isMultipart && this.#result === undefined) this.#hash.update(chunk);
  }

  /** No bytes can follow. */
  result(): string {
    if (this.#length === 0) return "";
    this.#result ??= this.#isMultipart ? `multipart ${String(this.#length)}` : this.#hash.digest("hex");
    return this.#result;
  }
}
