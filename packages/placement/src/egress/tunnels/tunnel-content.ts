import { withoutEnd } from "@shoal/primitives/hosts";

/** `more`: the bytes are too few to decide. */
export type ContentVerdict = "more" | "pass" | "refuse";

/** A server name in TLS can be 16 kB into the first records; heads of HTTP requests have no limit. */
const maxBytes = 64 * 2 ** 10;
const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;

/**
 * Decides about the first bytes that a client sends into a tunnel: `allows` judges the server name of TLS and the host of
 * an HTTP request. Other protocols, and TLS without a name, name no host. Invalid TLS and HTTP are refused.
 */
export function judgeContent(bytes: Buffer, allows: (name: string) => boolean): ContentVerdict {
  const named = hostIn(bytes);
  if (named === "more") return bytes.length > maxBytes ? "refuse" : "more";
  if (named === "invalid") return "refuse";
  return named === undefined || allows(named.host) ? "pass" : "refuse";
}

type Named = { readonly host: string } | "more" | "invalid" | undefined;

const token = "[!#$%&'*+.^_`|~\\w-]+";
const requestLine = new RegExp(`^${token}[ \\t]+(\\S+)[ \\t]+HTTP/\\d`);
const maybeRequestLine = new RegExp(`^(?:${token}(?:[ \\t][^\\r\\n]*)?)?$`);

function hostIn(bytes: Buffer): Named {
  if (bytes[0] === handshakeRecord) return serverNameIn(bytes);
  // Servers ignore empty lines before a request.
  const text = bytes.toString("latin1", 0, maxBytes + 1).replace(/^[\r\n]+/, "");
  const line = requestLine.exec(text);
  if (line === null) return maybeRequestLine.test(text) ? "more" : undefined;
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
  const absolute = URL.parse(line[1] ?? "")?.hostname;
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

function serverNameIn(bytes: Buffer): Named {
  const hello = handshakeIn(bytes);
  if (typeof hello === "string") return hello;
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

/** The ClientHello, which may be split over several records. */
function handshakeIn(bytes: Buffer): Buffer | "more" | "invalid" {
  const records = new Fields(bytes);
  const pieces: Buffer[] = [];
  for (;;) {
    if (records.left < 5) return "more";
    const type = records.number(1);
    records.take(2);
    const size = records.number(2);
    if (type !== handshakeRecord || size === 0) return "invalid";
    pieces.push(records.take(size));
    const message = new Fields(Buffer.concat(pieces));
    if (message.left < 4) {
      if (records.isShort()) return "more";
      continue;
    }
    if (message.number(1) !== clientHello) return "invalid";
    const hello = message.take(message.number(3));
    if (!message.isShort()) return hello;
    if (records.isShort()) return "more";
  }
}
