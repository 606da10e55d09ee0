import { withoutEnd } from "@shoal/primitives/hosts";
import { GrowingBytes } from "./growing-bytes.ts";

/** `more`: the bytes are too few to decide. */
export type ContentVerdict = "more" | "pass" | "refuse";

/** A server name in TLS can be 16 kB into the first records; heads of HTTP requests have no limit. */
const maxBytes = 64 * 2 ** 10;
const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;

/**
 * Decides about the first bytes that a client sends into a tunnel: `allows` judges the server name of TLS and the host of
 * an HTTP request. Other protocols, and TLS without a name, name no host. Invalid TLS and HTTP are refused. Takes linear
 * time, however small the chunks are.
 */
export class TunnelContent {
  readonly #allows: (name: string) => boolean;
  readonly #held = new GrowingBytes();
  #opening: ClientHello | RequestHead | undefined;

  constructor(allows: (name: string) => boolean) {
    this.#allows = allows;
  }

  /** All bytes so far; valid until the next {@link add}. */
  get held(): Buffer {
    return this.#held.bytes;
  }

  add(chunk: Buffer): ContentVerdict {
    const judged = chunk.subarray(0, maxBytes + 1 - this.#held.size);
    this.#held.add(chunk);
    this.#opening ??= chunk[0] === handshakeRecord ? new ClientHello() : new RequestHead(this.#held);
    const named = this.#opening.add(judged);
    if (named === "more") return this.#held.size > maxBytes ? "refuse" : "more";
    if (named === "invalid") return "refuse";
    return named === undefined || this.#allows(named.host) ? "pass" : "refuse";
  }
}

type Named = { readonly host: string } | "more" | "invalid" | undefined;

const token = "[!#$%&'*+.^_`|~\\w-]";
const requestLine = new RegExp(`^${token}+[ \\t]+(\\S+)[ \\t]+HTTP/\\d`);
const afterToken = new RegExp(`(?!${token})[^]`);

/** Searches only new bytes, and reads the whole head once. */
class RequestHead {
  readonly #held: GrowingBytes;
  #place: "before" | "method" | "line" | "fields" = "before";
  #last = "";

  constructor(held: GrowingBytes) {
    this.#held = held;
  }

  add(chunk: Buffer): Named {
    let text = chunk.toString("latin1");
    // Servers ignore empty lines before a request.
    if (this.#place === "before") text = text.replace(/^[\r\n]+/, "");
    if (text === "") return "more";
    const isFirst = this.#place === "before";
    if (isFirst) this.#place = "method";
    if (this.#place === "method") {
      const after = afterToken.exec(text);
      if (after === null) return "more";
      if ((isFirst && after.index === 0) || !/[ \t]/.test(after[0])) return undefined;
      this.#place = "line";
      text = text.slice(after.index);
    }
    if (this.#place === "line") {
      if (!/[\r\n]/.test(text)) return "more";
      if (!requestLine.test(this.#text())) return undefined;
      this.#place = "fields";
    }
    text = this.#last + text;
    this.#last = text.slice(-3);
    return /\n\r?\n/.test(text) ? hostIn(this.#text()) : "more";
  }

  #text(): string {
    return this.#held.bytes.toString("latin1", 0, maxBytes + 1).replace(/^[\r\n]+/, "");
  }
}

function hostIn(text: string): Named {
  const [, target = ""] = requestLine.exec(text) ?? [];
  // HTTP/2 without TLS names its hosts later.
  if (text.startsWith("PRI ")) return "invalid";
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) return "more";
  const hosts = text
    .slice(0, end.index)
    .split(/[\r\n]/)
    .flatMap((field) => {
      const [before] = /^host[ \t]*:[ \t]*/i.exec(field) ?? [];
      return before === undefined ? [] : [withoutEnd(field.slice(before.length), " \t")];
    });
  const absolute = URL.parse(target)?.hostname;
  const [host] = hosts;
  if (hosts.length > 1) return "invalid";
  if (host === undefined) return absolute === undefined ? undefined : { host: absolute };
  const name = URL.parse(`http://${host}/`)?.hostname;
  return name === undefined || (absolute ?? name) !== name ? "invalid" : { host: name };
}

/** Reads big-endian fields. Every read over the end makes {@link Fields.isShort} true. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;
  #isShort = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A method, so that TypeScript does not narrow it across reads. */
  isShort(): boolean {
    return this.#isShort;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  number(size: 1 | 2 | 3): number {
    const piece = this.take(size);
    return piece.length < size ? 0 : piece.readUIntBE(0, size);
  }

  take(size: number): Buffer {
    if (size > this.left) this.#isShort = true;
    const piece = this.#bytes.subarray(this.#at, this.#at + size);
    this.#at += piece.length;
    return piece;
  }

  /** A vector with its length in front. */
  vector(lengthSize: 1 | 2 | 3): Fields {
    return new Fields(this.take(this.number(lengthSize)));
  }
}

function serverNameIn(hello: Buffer): Named {
  const fields = new Fields(hello);
  fields.take(2 + 32);
  fields.vector(1);
  fields.vector(2);
  fields.vector(1);
  if (fields.isShort()) return "invalid";
  if (fields.left === 0) return undefined;
  const extensions = fields.vector(2);
  if (fields.isShort() || fields.left > 0) return "invalid";
  let found: Named;
  while (extensions.left > 0) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (extensions.isShort()) return "invalid";
    if (type !== serverNameExtension) continue;
    if (found !== undefined) return "invalid";
    const names = content.vector(2);
    const isHostName = names.number(1) === 0;
    const name = names.vector(2);
    const host = name.take(name.left).toString("latin1");
    if (names.isShort() || content.isShort() || content.left > 0 || names.left > 0 || !isHostName) return "invalid";
    if (!/^[\w.-]{1,255}$/.test(host)) return "invalid";
    found = { host };
  }
  return found;
}

/** Joins the ClientHello, which may be split over several records. */
class ClientHello {
  readonly #header: number[] = [];
  readonly #message = new GrowingBytes();
  /** Bytes of the current record that are still to come. */
  #left = 0;

  add(chunk: Buffer): Named {
    for (let at = 0; at < chunk.length;) {
      if (this.#left === 0) {
        this.#header.push(chunk[at++] ?? 0);
        if (this.#header.length < 5) continue;
        const [type, , , high = 0, low = 0] = this.#header.splice(0);
        this.#left = high * 256 + low;
        if (type !== handshakeRecord || this.#left === 0) return "invalid";
        continue;
      }
      const piece = chunk.subarray(at, at + this.#left);
      at += piece.length;
      this.#left -= piece.length;
      this.#message.add(piece);
      const named = this.#read();
      if (named !== "more") return named;
    }
    return "more";
  }

  #read(): Named {
    const message = new Fields(this.#message.bytes);
    if (message.left < 4) return "more";
    if (message.number(1) !== clientHello) return "invalid";
    const hello = message.take(message.number(3));
    return message.isShort() ? "more" : serverNameIn(hello);
  }
}
