import { JsonScan } from "@shoal/primitives";
import { storableText } from "../storable-text.ts";

/** The answer of a provider is unreadable or too large. */
export class BadSearchAnswer extends Error {
  override readonly name = "BadSearchAnswer";
}

/** The kinds of answers that providers send. */
export type SearchAnswerForm = "searxng" | "brave";

export interface SearchAnswerRequest {
  readonly form: SearchAnswerForm;
  /** Keeps the entry of each result. */
  readonly withRaw: boolean;
}

/** A result of a provider, cleaned and bounded. */
export interface FoundResult {
  readonly url: string;
  readonly title?: string;
  readonly snippet?: string;
  readonly additional_snippets?: string[];
  readonly published_date?: string;
  readonly source?: string;
  readonly raw?: string;
}

export const maxAnswerBytes = 4 * 2 ** 20;
/** Results of providers have some dozens of values each. */
const bounds = { values: 100_000, depth: 64 };
const maxResults = 100;
const maxUrl = 2_048;
/** Nested tags and entities beyond these passes keep their `<` and `&`, with a space behind it. */
const cleaningPasses = 8;
const lengths = { title: 500, snippet: 2_000, source: 200, date: 64, raw: 8_000 } as const;
const maxSnippets = 5;

export const tooLarge = (): BadSearchAnswer =>
  new BadSearchAnswer(`The answer has more than ${String(maxAnswerBytes)} bytes.`);

type Entry = Readonly<Record<string, unknown>>;

/** The usable results of an answer. */
export interface FoundResults {
  readonly results: readonly FoundResult[];
  /** In the answer, also those without a usable address. */
  readonly entries: number;
}

/** @throws {BadSearchAnswer} */
export async function readSearchAnswer(
  source: AsyncIterable<Uint8Array>,
  { form, withRaw }: SearchAnswerRequest,
): Promise<FoundResults> {
  const chunks: Uint8Array[] = [];
  const scan = new JsonScan(bounds);
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw tooLarge();
    if (scan.add(chunk) !== undefined) throw new BadSearchAnswer("The answer has too many values.");
    chunks.push(chunk);
  }
  const entries = entriesOf(parse(Buffer.concat(chunks).toString()), form);
  const results = entries.slice(0, maxResults).flatMap((entry) => resultOf(entry, { form, withRaw }) ?? []);
  return { results, entries: entries.length };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new BadSearchAnswer("The answer is not JSON.");
  }
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function entriesOf(answer: unknown, form: SearchAnswerForm): readonly unknown[] {
  if (!isEntry(answer)) throw new BadSearchAnswer("The answer is not a JSON object.");
  const { web, results: direct } = answer;
  // Brave omits `web` without results.
  const results = form === "brave" ? (isEntry(web) ? web.results : []) : direct;
  if (!Array.isArray(results)) throw new BadSearchAnswer("The answer has no list of results.");
  return results;
}

function resultOf(entry: unknown, { form, withRaw }: SearchAnswerRequest): FoundResult | undefined {
  if (!isEntry(entry)) return undefined;
  const url = webAddress(entry.url);
  if (url === undefined) return undefined;
  const isBrave = form === "brave";
  const profile = isEntry(entry.profile) ? entry.profile : {};
  const further = Array.isArray(entry.extra_snippets) ? entry.extra_snippets.slice(0, maxSnippets) : [];
  const texts = {
    title: cleanText(entry.title, lengths.title),
    snippet: cleanText(entry[isBrave ? "description" : "content"], lengths.snippet),
    published_date: cleanText(entry[isBrave ? "page_age" : "publishedDate"], lengths.date),
    source: cleanText(isBrave ? profile.name : entry.engine, lengths.source),
    ...(withRaw && { raw: storableText(JSON.stringify(entry), lengths.raw) }),
  };
  const snippets = further.map((text) => cleanText(text, lengths.snippet)).filter((text) => text !== undefined);
  return {
    url,
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
    ...(snippets.length > 0 && { additional_snippets: snippets }),
  };
}

/** The address of a page, without credentials; `undefined` for other schemes. */
function webAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > maxUrl || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  url.username = "";
  url.password = "";
  return url.href.length > maxUrl ? undefined : url.href;
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  hellip: "…",
  ndash: "–",
  mdash: "—",
};

function characterOf(whole: string, name: string): string {
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole;
  const isHex = /^#x/i.test(name);
  const code = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : "";
}

const withoutHidden = (text: string): string =>
  text.replaceAll(/[\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]+/gu, "");

/** Text without markup, control characters, and characters that hide or reorder text; `undefined` if nothing is left. */
export function cleanText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== "string") return undefined;
  let left = storableText(value, 4 * maxLength);
  for (let pass = 0; pass < cleaningPasses; pass += 1) {
    const cleaner = cleanedOnce(left);
    if (cleaner === left) break;
    left = cleaner;
  }
  const plain = left
    // Tags without an end, and those nested deeper than the passes.
    .replaceAll(/<(?=[/!?a-z])/gi, "< ")
    .replaceAll(/&(?=(?:amp|lt|gt|#x?[0-9a-f]+);)/gi, "& ");
  const cut = storableText(plain.trim(), maxLength);
  return cut === "" ? undefined : cut;
}

/** Removed parts may join the text around them to a new entity or tag, and an entity may be a part of another one. */
function cleanedOnce(text: string): string {
  return (
    withoutHidden(text)
      // Escaped markup is markup for a page that shows the text.
      .replaceAll(/&(#x?[0-9a-f]{1,32}|[a-z]{2,6});/gi, characterOf)
      .replaceAll(/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu, " ")
      .replaceAll(/<[/!?a-z][^<>]*>/gi, "")
  );
}
