import { getDocument } from "unpdf/pdfjs";
import type { ConvertedPage } from "./convert-page.ts";
import { readableText } from "./readable-text.ts";

/** A PDF in memory, and where it is from. */
export interface PdfSource {
  readonly kind: "pdf";
  readonly bytes: Uint8Array;
  readonly url: string;
}

export interface PdfText extends ConvertedPage {
  /** 0 if it cannot be read. */
  readonly pages: number;
}

const maxPages = 5_000;
const maxCharacters = 4_000_000;
const maxTitleCharacters = 300;
/** Less than the limit of a conversion: the pages read in time are the answer. */
const maxMs = 8_000;
/** A larger distance of lines, as a multiple of the height of the text, begins a paragraph. */
const paragraphLines = 1.8;

interface Item {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly height: number;
  /** The last two numbers are the place. */
  readonly transform: readonly number[];
}

/** Reads the text of a PDF: hostile data. */
export async function readPdf({ bytes, url }: PdfSource): Promise<PdfText> {
  const endMs = performance.now() + maxMs;
  const task = getDocument({
    data: bytes,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    stopAtErrors: false,
    maxImageSize: 1,
    verbosity: 0,
  });
  const name = decodeName(url);
  try {
    const document = await task.promise;
    const pages = document.numPages;
    const parts: string[] = [];
    const empty: number[] = [];
    let characters = 0;
    let page = 1;
    for (; page <= Math.min(pages, maxPages) && characters < maxCharacters && performance.now() < endMs; page++) {
      const content = await (await document.getPage(page)).getTextContent();
      const text = textOf(content.items.filter((item) => "str" in item)).slice(0, maxCharacters - characters);
      characters += text.length;
      if (text === "") empty.push(page);
      parts.push(`## Page ${String(page)}\n\n${text === "" ? "*No text.*" : text}\n`);
    }
    const notes = notesOf({ pages, read: page - 1, empty: empty.length });
    return { url, title: await titleOf(document, name), markdown: [...notes, ...parts].join("\n"), pages };
  } catch (error) {
    const isLocked = error instanceof Error && error.name === "PasswordException";
    const reason = isLocked ? "it is encrypted and needs a password" : "the file is broken, or no PDF";
    return { url, title: name, markdown: `*This PDF cannot be read: ${reason}.*\n`, pages: 0 };
  } finally {
    await task.destroy();
  }
}

function notesOf({ empty, pages, read }: { readonly empty: number; readonly pages: number; readonly read: number }) {
  const notes = [`*PDF with ${String(pages)} ${pages === 1 ? "page" : "pages"}.*\n`];
  if (read < pages)
    notes.push(`*Only the first ${String(read)} pages are here: the rest exceeds the limits of a read.*\n`);
  if (empty > 0)
    notes.push(
      `*${empty === read ? "No page has" : `${String(empty)} pages have no`} text: they may be scans. Take a screenshot.*\n`,
    );
  return notes;
}

async function titleOf(document: Awaited<ReturnType<typeof getDocument>["promise"]>, name: string): Promise<string> {
  const { info } = await document.getMetadata();
  const { Title: title } = info as { readonly Title?: unknown };
  const stated = typeof title === "string" ? readableText(title).trim() : "";
  return (stated === "" ? name : stated).slice(0, maxTitleCharacters);
}

/** In the order of the file, which is that of reading, also for columns and text from right to left. */
function textOf(items: readonly Item[]): string {
  let text = "";
  let last: Item | undefined;
  for (const item of items) {
    const from = last?.transform[5] ?? 0;
    const drop = from - (item.transform[5] ?? 0);
    if (last !== undefined && item.str.trim() !== "" && Math.abs(drop) > paragraphLines * Math.max(item.height, 1))
      text = `${text.trimEnd()}\n\n`;
    text += item.str + (item.hasEOL ? "\n" : "");
    if (item.str.trim() !== "") last = item;
  }
  return readableText(text)
    .replaceAll(/(?<![^\S\n])[^\S\n]+\n/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function decodeName(url: string): string {
  const last = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  try {
    return readableText(decodeURIComponent(last));
  } catch {
    return last;
  }
}
