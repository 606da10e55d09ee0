/** A table of words. `says` is true for a text that contains one of them. */
export interface Phrases {
  says(text: string): boolean;
}

interface Folded {
  readonly text: string;
  readonly words: readonly string[];
  readonly hasWideScript: boolean;
}

/** Longest text that is searched, in characters. */
const maxCharacters = 2_000;
/** A page asks many tables about the same texts. */
const maxKnown = 4_000;
/** Scripts without spaces between words. */
const withoutSpaces = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;
const known = new Map<string, Folded>();

/** Lower case, without accents and punctuation; names in code are separated into words. */
export function fold(text: string): string {
  return folded(text).text;
}

function folded(text: string): Folded {
  const before = known.get(text);
  if (before !== undefined) return before;
  const folds = text
    .slice(0, maxCharacters)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}@+]+/gu, " ")
    .trim();
  const result = {
    text: folds,
    words: folds.split(" "),
    hasWideScript: withoutSpaces.test(text.slice(0, maxCharacters)),
  };
  if (known.size >= maxKnown) known.clear();
  known.set(text, result);
  return result;
}

/**
 * Separates phrases by `|`. A phrase matches whole words; with `*` at its end, also the beginning of its last word. Of
 * scripts without spaces it matches anywhere. A sign such as `×` matches alone.
 */
export function phrases(...tables: readonly string[]): Phrases {
  const whole = new Set<string>();
  const beginnings: string[] = [];
  const anywhere: string[] = [];
  const signs = new Set<string>();
  let longest = 1;
  for (const phrase of tables.flatMap((table) => table.split("|"))) {
    const { hasWideScript, text, words } = folded(phrase);
    if (text === "") signs.add(phrase.trim());
    else if (hasWideScript) anywhere.push(text);
    else if (phrase.endsWith("*")) beginnings.push(` ${text}`);
    else whole.add(text);
    longest = Math.max(longest, words.length);
  }
  signs.delete("");
  return {
    says(text) {
      const { hasWideScript, text: searched, words } = folded(text);
      if (signs.size > 0 && signs.has(text.trim())) return true;
      if (hasWideScript && anywhere.some((phrase) => searched.includes(phrase))) return true;
      const padded = ` ${searched}`;
      if (beginnings.some((phrase) => padded.includes(phrase))) return true;
      return words.some((_, start) => startsPhrase(words, start, { whole, longest }));
    },
  };
}

function startsPhrase(
  words: readonly string[],
  start: number,
  { longest, whole }: { readonly longest: number; readonly whole: ReadonlySet<string> },
): boolean {
  let phrase = "";
  for (let length = 0; length < longest && start + length < words.length; length++) {
    phrase = length === 0 ? (words[start] ?? "") : `${phrase} ${words[start + length] ?? ""}`;
    if (whole.has(phrase)) return true;
  }
  return false;
}
