import { BuildFailure } from "./build-failure.ts";
import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

const maxFiles = 20;
const maxBytes = 1024 * 1024;
const maxLines = 20_000;
const maxLineCharacters = 4_000;

/** PEP 508 without direct references: a name, extras, versions, a marker, and pip's hashes. */
const version = String.raw`(?:===|[<>=!~]=|[<>])[ \t]*[\w.*+!-]+`;
const versions = String.raw`\(?[ \t]*(?:${version}(?:[ \t]*,[ \t]*${version})*)?[ \t]*,?[ \t]*\)?`;
/** Without options, which begin with a dash. */
const marker = String.raw`;(?:(?![ \t]-)[\w \t.,'"<>=!~()+*-])*`;
const requirement = new RegExp(
  String.raw`^[A-Za-z0-9][\w.-]*[ \t]*(?:\[[\w., \t-]*\][ \t]*)?${versions}[ \t]*(?:${marker})?(?:[ \t]+--hash=[a-z0-9]+:[0-9a-f]+)*$`,
);
const file = /^(-r|--requirement|-c|--constraint)(?:\s+|=|\s+=\s*)?(\S.*)$/;
/** They only restrict, or repeat the settings of builds. */
const harmless = /^(?:--pre|--prefer-binary|--require-hashes|--only-binary(?:\s+|=):all:)$/;

export interface Requirements {
  readonly requirements: readonly string[];
  readonly constraints: readonly string[];
}

/** @throws {BuildFailure} for a line that is more than a name and versions: pip would read options, files and addresses. */
export function checkRequirement(line: string, where: string): string {
  if (line.length <= maxLineCharacters && requirement.test(line)) return line;
  throw new BuildFailure(
    `${where}: ${JSON.stringify(line.slice(0, 200))} is not possible in builds. They install wheels of the package index by name and version, such as requests==2.32.3. Put other packages as wheels into the folder wheels of the sources.`,
  );
}

/** Reads a requirements file and the files of the sources that it includes. @throws {BuildFailure} */
export async function readRequirements(work: string, name: string): Promise<Requirements> {
  const reader = new RequirementsReader(await realpath(work));
  await reader.read(join(work, name), "requirements");
  return reader;
}

class RequirementsReader implements Requirements {
  readonly requirements: string[] = [];
  readonly constraints: string[] = [];
  readonly #root: string;
  #files = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async read(path: string, as: keyof Requirements): Promise<void> {
    const shown = relative(this.#root, path);
    if (++this.#files > maxFiles)
      throw new BuildFailure(`requirements.txt includes more than ${String(maxFiles)} files.`);
    const text = await this.#textOf(path, shown);
    for (const [index, line] of linesOf(text).entries()) {
      const where = `${shown}, line ${String(index + 1)}`;
      const [, option = "", included = ""] = file.exec(line) ?? [];
      if (option !== "")
        await this.read(
          join(dirname(path), included.trim()),
          option.includes("c") && !option.includes("req") ? "constraints" : as,
        );
      else if (line !== "" && !harmless.test(line)) this[as].push(checkRequirement(line, where));
      if (this[as].length > maxLines)
        throw new BuildFailure(`${shown} has more than ${String(maxLines)} requirements.`);
    }
  }

  async #textOf(path: string, shown: string): Promise<string> {
    const real = await realpath(path).catch(() => undefined);
    if (real?.startsWith(this.#root + sep) !== true)
      throw new BuildFailure(`${shown} is missing, or outside of the sources.`);
    const { size } = await lstat(real);
    if (size > maxBytes)
      throw new BuildFailure(`${shown} has ${String(size)} bytes; the limit is ${String(maxBytes)}.`);
    return readFile(real, "utf8");
  }
}

/** Like pip: joins continued lines, and drops comments. */
function linesOf(text: string): readonly string[] {
  return (
    text
      .replaceAll(/\\\r?\n/g, " ")
      // oxlint-disable-next-line no-control-regex -- Python ends lines there
      .split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/)
      .map((line) => line.replace(/(?:^|(?<!\s)\s+)#.*$/, "").trim())
  );
}
