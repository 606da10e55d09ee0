import createIgnore, { type Ignore } from "ignore";
import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

/** Rules of several .gitignore files, in Git's order: the last matching rule decides. */
export interface GitRules {
  /** The uploaded folder, relative to the root of the repository, with a trailing slash; empty for the root itself. */
  readonly below: string;
  readonly ignore: Ignore;
}

/** @returns the rules of the repository's folders above `folder`; empty outside a repository. */
export async function rulesAbove(folder: string): Promise<GitRules> {
  const at = await realpath(folder);
  const root = await repositoryOf(at);
  if (root === undefined) return { below: "", ignore: createIgnore() };
  const below = slashed(relative(root, at));
  const lines = await linesOf(join(root, ".git", "info", "exclude"), "");
  if (below !== "")
    for (let length = 0; length !== -1; length = nextFolder(below, length))
      lines.push(...(await linesOf(join(root, below.slice(0, length), ".gitignore"), below.slice(0, length))));
  const all = createIgnore().add(lines);
  if (below === "" || !all.ignores(below)) return { below, ignore: all };
  // The repository ignores this folder, for example generated code, but the user named it. Other rules still apply.
  return { below, ignore: createIgnore().add(lines.filter((line) => !createIgnore().add(line).ignores(below))) };
}

/** @param name - of the folder, relative to the uploaded one, with a trailing slash. */
export async function rulesWith(rules: GitRules, folder: string, name: string): Promise<GitRules> {
  const lines = await linesOf(join(folder, ".gitignore"), rules.below + name);
  return lines.length === 0 ? rules : { ...rules, ignore: createIgnore().add(rules.ignore).add(lines) };
}

/** @param name - relative to the uploaded folder; a folder ends with a slash. */
export function isIgnored({ below, ignore }: GitRules, name: string): boolean {
  return ignore.ignores(below + name);
}

async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await lstat(join(at, ".git")).catch(() => undefined)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

const slashed = (path: string) => (path === "" ? "" : `${path.split(sep).join("/")}/`);

/** @returns the length of the next longer path of a parent, and -1 at the end. */
function nextFolder(path: string, length: number): number {
  const end = path.indexOf("/", length);
  return end === -1 || end === path.length - 1 ? -1 : end + 1;
}

/** The rules of a file as rules of the root. */
async function linesOf(path: string, below: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => anchored(line, below));
}

function anchored(line: string, below: string): string {
  if (below === "") return line;
  const not = line.startsWith("!") ? "!" : "";
  const pattern = line.slice(not.length);
  const folder = below.replaceAll(/[\\*?[\]]/g, "\\$&");
  // A slash before the end ties the rule to its folder.
  const isTied = pattern.trimEnd().slice(0, -1).includes("/");
  return `${not}/${folder}${isTied ? pattern.replace(/^\//, "") : `**/${pattern}`}`;
}
