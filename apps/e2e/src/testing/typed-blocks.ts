import { globSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";

const root = join(import.meta.dirname, "../../../..");

/** A block of commands that a page tells people to type. */
export interface TypedBlock {
  /** `README.md:117` */
  readonly title: string;
  /** Why the tests do not run it: the second word of its fence. */
  readonly reason: Reason | undefined;
  /** Typed before it: comments `<!-- sh: COMMAND -->` above the fence. */
  readonly before: readonly string[];
  readonly commands: readonly string[];
}

/** Reasons not to run a block, each with what its commands must contain. */
export const reasons = {
  newcomer: /\.\/shoal|npm run (?:demo|pack)|shoal serve/,
  container: /\bdocker\b/,
  kubernetes: /\b(?:kubectl|helm)\b/,
  /** Changes this machine. */
  root: /\bsudo\b|\bmodprobe\b|\/var\/lib\//,
  /** Installs packages. */
  registry: /\b(?:npm|pip) install\b|\bnpx\b/,
  /** Reads a site, or uses an account of another service. Commands of `shoal` are tried with `--dry-run`. */
  site: /\bexample\.com\b|\.example\b|shoal search/,
  /** Asks a person. */
  person: /shoal auth connect/,
  /** Takes minutes. */
  minutes: /\bbench\b/,
  /** Loads a package of the reader. */
  plugin: /SHOAL_PLUGINS=/,
} as const satisfies Readonly<Record<string, RegExp>>;
type Reason = keyof typeof reasons;

const isReason = (word: string): word is Reason => Object.hasOwn(reasons, word);
const isGuide = (page: string) => page.startsWith("docs/guide/");

export const typedPages: readonly string[] = [
  "README.md",
  ...globSync(["docs/**/*.md", "{packages,apps}/*/README.md"], { cwd: root })
    .map((page) => page.split(sep).join(posix.sep))
    .sort(),
];

/**
 * The blocks of a page in `console`, whose commands follow `$`, and in `sh`, except those of the guide: its programs are tried
 * by `guide.ts`, which leaves those with the word `check`.
 * @throws if a fence has an unknown word.
 */
export function typedBlocksOf(page: string): TypedBlock[] {
  const blocks: TypedBlock[] = [];
  let before: string[] = [];
  let open: { readonly info: string; readonly title: string; readonly lines: string[] } | undefined;
  for (const [index, line] of readFileSync(join(root, page), "utf8").split("\n").entries()) {
    const fence = /^\s*```(.*)$/.exec(line)?.[1];
    if (open === undefined) {
      const typed = /^\s*<!-- sh: (.+) -->$/.exec(line)?.[1];
      if (typed !== undefined) before.push(typed);
      else if (fence !== undefined) open = { info: fence, title: `${page}:${String(index + 1)}`, lines: [] };
    } else if (fence !== "") open.lines.push(line);
    else {
      const block = blockOf(open, isGuide(page));
      if (block !== undefined) blocks.push({ ...block, before });
      else if (before.length > 0) throw new Error(`${open.title}: "<!-- sh:" is above a block that is not typed.`);
      before = [];
      open = undefined;
    }
  }
  return blocks;
}

function blockOf(
  { info, lines, title }: { readonly info: string; readonly lines: readonly string[]; readonly title: string },
  inGuide: boolean,
): Omit<TypedBlock, "before"> | undefined {
  const [language, word = ""] = info.split(" ");
  const isTyped = language === "console" || (language === "sh" && (!inGuide || word === "check"));
  if (!isTyped) return undefined;
  const isPlain = word === "" || (inGuide && language === "sh" && word === "check");
  if (!isPlain && !isReason(word))
    throw new Error(`${title}: "${word}" is not a reason: ${Object.keys(reasons).join(", ")}.`);
  const commands = language === "console" ? afterPrompts(lines) : lines.join("\n").replaceAll("\\\n", " ").split("\n");
  return {
    title,
    reason: isPlain ? undefined : (word as Reason),
    commands: commands.map((command) => command.replace(/\s+# .*$/, "").trim()).filter((command) => command !== ""),
  };
}

/** Lines after `$`. A backslash or a document (`<<'END'`) continues a command on the next lines. */
function afterPrompts(lines: readonly string[]): string[] {
  const commands: string[] = [];
  let end: string | undefined;
  let isContinued = false;
  for (const line of lines) {
    const typed = /^\s*\$ (.+)$/.exec(line)?.[1];
    if (end !== undefined || isContinued) commands.push(`${commands.pop() ?? ""}\n${line}`);
    else if (typed === undefined) continue;
    else commands.push(typed);
    end = end === undefined ? /<<'(\w+)'/.exec(line)?.[1] : line === end ? undefined : end;
    isContinued = line.endsWith("\\");
  }
  return commands;
}
