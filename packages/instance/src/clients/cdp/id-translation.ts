/** Ids of targets and sessions; that of the browser is a UUID. */
const idPattern = /^[\w-]{32,36}$/;
const maxIdBytes = 36;

/** Ids that a client knows from an earlier browser, in the messages of the present one. */
export class IdTranslation {
  readonly #ids: { readonly client: Buffer; readonly browser: Buffer }[] = [];
  /** The end of a chunk, which may be the beginning of an id. */
  #held = Buffer.alloc(0);

  add(client: string, browser: string): void {
    // A translated frame keeps its length.
    if (client.length !== browser.length || !idPattern.test(client) || !idPattern.test(browser)) return;
    this.#ids.push({ client: Buffer.from(client), browser: Buffer.from(browser) });
  }

  /** Returns the id in the present browser. */
  browserIdOf(id: string): string | undefined {
    return this.#ids.find(({ client }) => client.equals(Buffer.from(id)))?.browser.toString();
  }

  /** Returns the same buffer without a known id. */
  toBrowser(message: Buffer): Buffer {
    return replaceAll(
      message,
      this.#ids.map(({ browser, client }) => [client, browser]),
    );
  }

  toClient(message: Buffer): Buffer {
    return replaceAll(
      message,
      this.#ids.map(({ browser, client }) => [browser, client]),
    );
  }

  /**
   * Translates the browser's bytes, with the rest of the last chunk.
   * @param boundary - bytes before the chunk's last frame boundary, or -1.
   * @returns its bytes, and the boundary in them.
   */
  chunkToClient(chunk: Buffer, boundary: number): { readonly bytes: Buffer; readonly boundary: number } {
    const before = this.#held.length;
    const bytes = this.toClient(before === 0 ? chunk : Buffer.concat([this.#held, chunk]));
    const end = boundary === -1 ? -1 : before + boundary;
    const heldBytes = Math.min(maxIdBytes - 1, bytes.length - Math.max(0, end));
    this.#held = Buffer.from(bytes.subarray(bytes.length - heldBytes));
    return { bytes: bytes.subarray(0, bytes.length - heldBytes), boundary: end };
  }
}

function replaceAll(message: Buffer, pairs: readonly (readonly [Buffer, Buffer])[]): Buffer {
  let result = message;
  for (const [from, to] of pairs)
    for (let at = result.indexOf(from); at !== -1; at = result.indexOf(from, at + to.length)) {
      if (result === message) result = Buffer.from(message);
      to.copy(result, at);
    }
  return result;
}
