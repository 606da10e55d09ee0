// Finds words that the rules of plain English in CONTRIBUTING.md exclude: in comments, in sentences within string literals, and in Markdown.
// Usage: node tools/words.mjs [PATH …]
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import jsTokens from "js-tokens";

/** Each rule: words (any white space between them), and what to write. Matches are whole words, in any case. */
const rules = [
  ["beside|besides", 'write "next to", "as well as" or "other than"'],
  ["anew", 'write "again"'],
  ["mend|mends|mended|mending", 'write "fix"'],
  ["of (?:its|their|his|her|your|my|our|one's) own", 'write "own" or "separate" before the noun'],
  ["nobody|somebody|everybody|anybody", 'name the person or program: "no client", "the operator", "every caller"'],
  [
    "(?<!(?:people|person|(?:operator|user|engineer|caller|viewer|tenant|team|owner|attacker|actor|contributor|reader|developer|customer|holder)s?)\\s)who|whoever|whom",
    'name the person or program: "the caller", "operators who …"',
  ],
  ["whatever|wherever", 'name the thing: "everything", "every …", "where …"'],
  ["what (?:is|was|are|were|has|had|comes|came|goes|stands|exists)(?![^.;:]*\\?)", "name the thing with a noun"],
  ["such(?! as\\b)", 'name the thing: "these", "this kind of", or the noun'],
  ["(?:one|ones|those|that) that", "repeat the noun"],
  ["(?<!twice |times |least )as long as", 'write "while" or "until"'],
  ["stands?(?! for\\b| out\\b)|stood", 'write "is" or "is in"'],
  ["(?:tell|tells|telling|told) of", 'write "report"'],
  ["told", 'name the setting or message: "set to", "receives", "reported"'],
  ["(?:leave|leaves|left|leaving) away", 'write "omit"'],
  ["(?:keep|keeps|kept) to", 'write "limit", "follow" or "stay within"'],
  ["by (?:itself|themselves)", 'write "automatically" or "alone"'],
  ["until then", 'name the event: "until the session ends"'],
  ["(?:hold|holds|held|holding) (?:\\S+ ){0,5}against", 'write "compare with" or "check against"'],
  ["asks for|asked for", 'write "requests" or "requires"'],
  ["wants", 'write "requires" or "expects"'],
  ["gives(?! up\\b| access\\b)", 'write "returns", "sets" or "provides"'],
  ["(?:know|knows|knew|known) of", 'write "know", "list" or "has"'],
  ["there (?:is|are|was|were) (?:no|none|nothing)", 'say what is missing: "not found", "missing", "has no …"'],
  [
    "(?<!there )(?:is|are|was|were) no(?! longer| more| less| fewer| larger| greater| different)",
    'write "is not a", or the opposite: "invalid", "missing"',
  ],
  ["leaves? nothing behind", "name the things that are removed"],
];

/** Exact exceptions: texts in which a listed word is a term of the field, a name, or a quotation. */
const exceptions = [
  "who-am-i",
  "who am i",
  "whoami",
  "fill-what-is-missing",
  "no such",
  "/no/such/",
  "/nobody",
  "nobody:x:",
  ":nobody:",
];

const skipped =
  /(?:^|\/)(?:CHANGELOG\.md|LICENSE|NOTICE|pnpm-lock\.yaml)$|(?:^|\/)fixtures\/|^packages\/login\/src\/words\/.*-words\.ts$|^tools\/words\.(?:mjs|test\.ts)$/;
/** Written from comments in the sources, where the words are reported. */
const generated = new Set(["docs/cli.md", "docs/operations.md", "docs/guide/error-codes.md"]);

const patterns = rules.map(([words, advice]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${words.replaceAll(" ", "\\s+")})(?![\\w-])`, "giu"),
  advice,
}));
const anyPattern = new RegExp(patterns.map(({ pattern }) => pattern.source).join("|"), "iu");
const exception = new RegExp(exceptions.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "giu");

/**
 * @param {string} path - its ending decides how the text is read
 * @param {string} text
 * @returns {{ line: number, words: string, advice: string }[]} in the order of lines
 */
export function findWords(path, text) {
  const prose = (path.endsWith(".md") ? markdownProse(text) : codeProse(path, text)).replaceAll(exception, blank);
  if (!anyPattern.test(prose)) return [];
  const found = [];
  for (const { pattern, advice } of patterns) {
    for (const match of prose.matchAll(pattern))
      found.push({ at: match.index, words: match[0].replaceAll(/\s+/gu, " "), advice });
  }
  return found
    .sort((a, b) => a.at - b.at || b.words.length - a.words.length)
    .filter(({ at }, i, all) => i === 0 || at >= all[i - 1].at + all[i - 1].words.length)
    .map(({ at, words, advice }) => ({ line: prose.slice(0, at).split("\n").length, words, advice }));
}

/** Code, quotations of identifiers and addresses become this character, so that no words match across them. */
const wall = "\u0000";
const walls = (text) => text.replaceAll(/[^\n]/gu, wall);
const blank = (text) => text.replaceAll(/[^\n]/gu, " ");
const withoutCode = (text) => text.replaceAll(/`[^`\n]*`|https?:\/\/[^\s)>]+|\{@link[^}]*\}/gu, walls);

/** Keeps comments, and string literals of at least three words. Everything else becomes walls; lines stay where they are. */
function codeProse(path, text) {
  if (!anyPattern.test(text)) return "";
  let prose = "";
  let inLineComments = false;
  for (const { type, value } of jsTokens(text, { jsx: path.endsWith("x") })) {
    if (type === "SingleLineComment") {
      prose += (inLineComments ? "  " : wall + wall) + withoutCode(value.slice(2));
      inLineComments = true;
    } else if (type === "MultiLineComment") {
      prose += wall + withoutCode(value.slice(1, -1).replaceAll(/(?<=^|\n)[ \t]*\*+/gu, blank)) + wall;
      inLineComments = false;
    } else if (type === "WhiteSpace" || type === "LineTerminatorSequence") {
      prose += value;
    } else {
      const literal = type === "StringLiteral" || type === "NoSubstitutionTemplate" || /^Template/u.test(type);
      prose += literal && (value.match(/\p{L}{2,}/gu)?.length ?? 0) >= 3 ? withoutQuotes(value) : walls(value);
      inLineComments = false;
    }
  }
  return prose;
}

/** Quotation marks and backticks of a literal; escapes become spaces. */
function withoutQuotes(value) {
  return wall + value.slice(1, -1).replaceAll(/\\./gu, "  ") + wall;
}

/** Keeps everything but code, link targets, titles of linked tests and HTML comments; of fenced blocks it keeps the comments. */
function markdownProse(text) {
  let fence;
  let off = false;
  const lines = text.split("\n").map((line) => {
    if (/^<!-- words: (?:on|off) -->$/u.test(line)) off = line.includes("off");
    const mark = /^\s*(`{3,}|~{3,})/u.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined && mark !== undefined && mark.startsWith(fence)) fence = undefined;
    else if (fence !== undefined && !off)
      return line.replace(/^(.*?)((?:\/\/|#) .*)?$/u, (_, code, comment = "") => walls(code) + withoutCode(comment));
    else if (!off) return line;
    return walls(line);
  });
  return withoutCode(
    lines.join("\n").replaceAll(/<!--[^]*?-->|\[[^\]]*\]\([^)\s]*\.(?:test|slow)\.ts\)|\]\([^)\s]*\)|^> ?/gmu, walls),
  ).replaceAll(/\*\*|__/gu, "  ");
}

/** @param {string} root @param {string[]} paths @returns {string[]} `file:line: "words": advice` */
export function checkFiles(root, paths) {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  }).split("\0");
  return files
    .filter((file) => /\.(?:ts|tsx|mts|mjs|js|md)$/u.test(file) && !skipped.test(file) && !generated.has(file))
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) =>
      findWords(file, readFileSync(join(root, file), "utf8")).map(
        ({ line, words, advice }) => `${file}:${line}: "${words}": ${advice}`,
      ),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const found = checkFiles(root, process.argv.length > 2 ? process.argv.slice(2) : ["."]);
  for (const line of found) console.log(line);
  console.error(
    found.length === 0 ? "words: plain English" : `words: ${found.length} to rewrite (rules: CONTRIBUTING.md)`,
  );
  process.exit(found.length === 0 ? 0 : 1);
}
