import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { GlobalFlags, Run } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import { selectClients } from "../mcp/install/clients.ts";
import { replaceFile, shortened } from "../mcp/install/replace-file.ts";
import { skillClients } from "./skill-clients.ts";

export interface SkillFlags extends GlobalFlags {
  readonly client?: readonly string[];
  readonly name: string;
  readonly folder?: string;
  readonly force?: boolean;
}

const largestBytes = 1024 * 1024;

/** Writes the skill of this version for each client. */
export function install(flags: SkillFlags, run: Run): void {
  const source = new URL("../skills/shoal/SKILL.md", run.dist);
  const text = sealed(readFileSync(source, "utf8").replace("\nname: shoal\n", `\nname: ${flags.name}\n`));
  forEachFile(flags, run, (file) => {
    const before = contentOf(file);
    if (before === text) return "unchanged";
    requireOwn(before, flags);
    if (flags.dryRun === true) return "would write";
    replaceFile(file, text, { mode: 0o644, keepsOld: before !== undefined && !isOwn(before) });
    return "wrote";
  });
}

/** Removes the skill, and its folder if that is empty then. */
export function uninstall(flags: SkillFlags, run: Run): void {
  forEachFile(flags, run, (file) => {
    const before = contentOf(file);
    if (before === undefined) return "not found:";
    requireOwn(before, flags);
    if (flags.dryRun === true) return "would remove";
    rmSync(file);
    try {
      rmdirSync(dirname(file));
    } catch {
      // Other files of the user remain.
    }
    return "removed";
  });
}

class ForeignFile extends Error {}

function requireOwn(text: string | undefined, { force }: SkillFlags): void {
  if (text !== undefined && force !== true && !isOwn(text))
    throw new ForeignFile("the file was changed, or was not written by this command. Use --force, or another --name");
}

/** The last line contains a hash of the text above it, so that a changed file is recognized. */
function sealed(text: string): string {
  return `${text}\n<!-- Written by shoal skill install. ${createHash("sha256").update(text).digest("hex")} -->\n`;
}

function isOwn(text: string): boolean {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return sealed(lines.slice(0, -2).join("\n")) === lines.join("\n");
}

function contentOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  if (statSync(file).size > largestBytes) throw new ForeignFile("the file is larger than 1 MiB. Use another --name");
  return readFileSync(file, "utf8");
}

/** Clients that share a folder share one line of the report. A problem of one file does not stop the others. */
function forEachFile(flags: SkillFlags, { env, exitWith, terminal }: Run, change: (file: string) => string): void {
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(flags.name) || flags.name.length > 64)
    throw new UsageError("--name must be 1 to 64 lowercase letters, digits and single hyphens.");
  if (flags.folder !== undefined && statSync(flags.folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError("--folder must be an existing folder.");
  const titles = new Map<string, string[]>();
  for (const { skills, title } of selectClients(skillClients(env, flags.folder), flags.client, "client with skills")) {
    const file = join(skills, flags.name, "SKILL.md");
    titles.set(file, [...(titles.get(file) ?? []), title]);
  }
  for (const [file, readers] of titles) {
    const label = `${[...new Set(readers)].join(", ")}:`;
    const where = printable(shortened(file, env));
    try {
      terminal.stdout.write(`${label} ${change(file)} ${where}\n`);
    } catch (error) {
      if (!(error instanceof ForeignFile) && !(error instanceof Error && "code" in error)) throw error;
      exitWith(exitCodes.error.status);
      terminal.stderr.write(`error: ${label} ${where} was not changed: ${printable(error.message)}.\n`);
    }
  }
}
