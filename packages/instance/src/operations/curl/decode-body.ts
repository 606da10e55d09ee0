import { isUtf8 } from "node:buffer";

export interface DecodedBody {
  readonly text: string;
  readonly encoding: "utf8" | "base64";
}

/** Bytes of a document in which browsers look for its encoding. */
const prescanBytes = 1024;
const fallback = "windows-1252";

/**
 * Decodes a body as browsers do: by its byte order mark, then the charset of the header, then the charset that the document
 * names. Base64 if it is not text, or in an encoding that is not known.
 */
export function decodeBody(bytes: Buffer, contentType = ""): DecodedBody {
  const [, mimeType = ""] = /^\s*([^\s;,]*)/.exec(contentType.toLowerCase()) ?? [];
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;,]*))/i.exec(contentType) ?? [];
  const label = markOf(bytes) ?? quoted ?? bare ?? labelInDocument(bytes, mimeType);
  if (label !== undefined && label !== "") {
    const text = decoded(bytes, label);
    if (text !== undefined) return { text, encoding: "utf8" };
  }
  if (isUtf8(bytes)) return { text: bytes.toString(), encoding: "utf8" };
  // Old pages without a label.
  const text = label === undefined && isText(mimeType) ? decoded(bytes, fallback) : undefined;
  return text === undefined ? { text: bytes.toString("base64"), encoding: "base64" } : { text, encoding: "utf8" };
}

function markOf(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined;
}

function labelInDocument(bytes: Buffer, mimeType: string): string | undefined {
  const start = bytes.toString("latin1", 0, prescanBytes);
  const [, inXml] = isXml(mimeType)
    ? (/^<\?xml[^>]{0,200}\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start) ?? [])
    : [];
  if (inXml !== undefined) return withoutUtf16(inXml);
  if (!/^(?:text\/html|application\/xhtml\+xml)$/.test(mimeType)) return undefined;
  const [, inMeta] = /<meta\s[^>]{0,300}?charset\s*=\s*(?:["']\s*)?([\w.:-]{1,40})/i.exec(start) ?? [];
  return inMeta === undefined ? undefined : withoutUtf16(inMeta);
}

/** The label could be read as ASCII, so the document is not in UTF-16. */
const withoutUtf16 = (label: string): string => (/^utf-?16/i.test(label) ? "utf-8" : label);

const isXml = (mimeType: string): boolean => /[/+]xml$/.test(mimeType);

function isText(mimeType: string): boolean {
  return mimeType.startsWith("text/") || isXml(mimeType) || /[/+](?:json|javascript|ecmascript)$/.test(mimeType);
}

function decoded(bytes: Buffer, label: string): string | undefined {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return undefined;
  }
}
