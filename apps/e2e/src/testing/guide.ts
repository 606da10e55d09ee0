import { globSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";

const root = join(import.meta.dirname, "../../../..");

/** How a program is tried: against the fake, against a service with browsers, with a shop and a person, or only by the compiler. */
export type Trial = "fake" | "service" | "person" | "check";

const languages = ["ts", "sh", "python"] as const;
type Language = (typeof languages)[number];

/** The blocks of one language below one heading, in order: a program or a shell script. */
export interface GuideProgram {
  /** `docs/guide/errors.md: Retries` */
  readonly title: string;
  readonly language: Language;
  readonly trial: Trial;
  /** Each line has the same line number as in the page, so that messages match the page. */
  readonly code: string;
  /** The expected output, if the page shows it: the `text` blocks below the same heading. */
  readonly output: string | undefined;
}

/** Pages whose programs are tried, relative to the repository: the guide, and READMEs of packages for programs. */
export const guidePages: readonly string[] = [
  "README.md",
  ...globSync(
    ["docs/guide/*.md", "packages/{client,contract,router,schemas,testing,transport}/README.md", "apps/cli/README.md"],
    { cwd: root },
  )
    .map((page) => page.split(sep).join(posix.sep))
    .sort(),
];

const isGuide = (page: string) => page.startsWith("docs/guide/");

interface Section extends Readonly<Record<Language, string[]>> {
  readonly title: string;
  readonly output: string[];
  trial?: Trial;
}

/**
 * Extracts the programs of a page. The fence sets the trial: ` ```ts ` and ` ```sh ` in the guide run against the fake,
 * ` ```ts service ` and ` ```python ` against a real service; ` ```ts person ` runs with a shop and a person; ` ```ts check ` and blocks of a README are only
 * compiled; ` ```ts part ` is skipped. A comment before a README's block adds missing declarations: `<!-- ts: declare const id: string; -->`.
 */
export function programsOf(page: string): GuideProgram[] {
  const sections: Section[] = [];
  const begin = (title: string): Section => {
    const section: Section = { title, ts: [], sh: [], python: [], output: [] };
    sections.push(section);
    return section;
  };
  let section = begin(page);
  const isProgram = (word: string | undefined): word is Language =>
    word === "ts" || ((word === "sh" || word === "python") && isGuide(page));
  let language: string | undefined;
  for (const [index, line] of readFileSync(join(root, page), "utf8").split("\n").entries()) {
    const fence = /^```(.*)$/.exec(line)?.[1];
    if (fence !== undefined && language === undefined) {
      const [word = "", trial] = fence.split(" ");
      language = trial === "part" ? trial : word;
      if (isProgram(language)) section.trial ??= trialOf(page, index, language === "python" ? "service" : trial);
    } else if (fence === "") {
      if (language === "ts" && !isGuide(page)) section = begin(`${page}, after line ${index + 1}`);
      language = undefined;
    } else if (language === undefined) {
      if (isGuide(page) && /^#{2,} /.test(line)) section = begin(`${page}: ${line.replace(/^#+ /, "")}`);
      const unsaid = /^<!-- ts: (.+) -->$/.exec(line)?.[1];
      if (unsaid !== undefined) section.ts[index] = unsaid;
    } else if (isProgram(language)) {
      section[language][index] = line;
    } else if (language === "text") {
      section.output.push(line);
    }
  }
  const textOf = (lines: readonly (string | undefined)[]) => `${Array.from(lines, (line) => line ?? "").join("\n")}\n`;
  return sections.flatMap(({ title, output, trial = "check", ...code }) =>
    languages
      .filter((language) => code[language].length > 0)
      .map((language) => ({
        title,
        language,
        trial,
        code: textOf(code[language]),
        output: output.length === 0 ? undefined : textOf(output),
      })),
  );
}

function trialOf(page: string, index: number, word: string | undefined): Trial {
  if (word === "service" || word === "person" || word === "check") return word;
  if (word !== undefined)
    throw new Error(
      `${page}:${index + 1}: a block is "service", "person", "check" or "part", or says nothing; not "${word}".`,
    );
  return isGuide(page) ? "fake" : "check";
}

/** The targets of links and pictures. */
export function linksOf(text: string): string[] {
  const found = text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"\s]+\.(?:gif|png|svg|webp))"/g);
  return [...found].map(([, link, picture]) => link ?? picture ?? "");
}

/** A page's links to missing files of the repository, with their lines. */
export function brokenLinks(page: string, exists: (path: string) => boolean): string[] {
  const folder = join(root, page, "..");
  return readFileSync(join(root, page), "utf8")
    .split("\n")
    .flatMap((line, index) => linksOf(line).map((target) => ({ target, where: `${page}:${index + 1}` })))
    .filter(({ target }) => !/^(?:https?:|mailto:|#)/.test(target))
    .filter(({ target }) => !exists(join(folder, target.replace(/#.*$/, ""))))
    .map(({ target, where }) => `${where} ${target} (${relative(root, join(folder, target))})`);
}
