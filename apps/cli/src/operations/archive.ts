import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { createWriteStream, rmSync } from "node:fs";
import { lstat, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import { type GitRules, isIgnored, rulesAbove, rulesWith } from "./git-rules.ts";

/** In a temporary file, which disposal removes. */
export interface Archive extends AsyncDisposable {
  readonly path: string;
  readonly files: number;
}

interface ArchiveOptions {
  readonly gitignore: boolean;
  readonly everything?: boolean;
  readonly signal: AbortSignal;
}

const symlinkMode = 0o120777;

/**
 * Includes hidden files, symbolic links as links, and excludes .git. @param gitignore - exclude the files that Git ignores. @param
 * everything - include .git and empty folders.
 * @throws {ExitError} if the folder is unreadable or empty.
 */
export async function archiveFolder(
  folder: string,
  { everything = false, gitignore, signal }: ArchiveOptions,
): Promise<Archive> {
  const path = join(tmpdir(), `shoal-${randomBytes(6).toString("hex")}.zip`);
  const remove = () => {
    rmSync(path, { force: true });
  };
  // A second Ctrl-C exits at once.
  process.once("exit", remove);
  const zip = new ZipFile();
  try {
    const files = await addFolder(zip, folder, "", {
      rules: gitignore ? await rulesAbove(folder) : undefined,
      everything,
    });
    if (files === 0 && !everything) throw new ExitError(exitCodes.usage.status, `${folder} contains no files.`);
    zip.end();
    await pipeline(zip.outputStream, createWriteStream(path, { mode: 0o600 }), { signal });
    return {
      path,
      files,
      async [Symbol.asyncDispose]() {
        process.off("exit", remove);
        await rm(path, { force: true });
      },
    };
  } catch (error) {
    process.off("exit", remove);
    await rm(path, { force: true });
    if (error instanceof Error && "code" in error && typeof error.code === "string")
      throw new ExitError(exitCodes.usage.status, `Cannot pack ${folder}: ${error.message}.`);
    throw error;
  }
}

/** @returns `undefined` for a name that is not UTF-8. */
function decodeName(name: Buffer): string | undefined {
  return isUtf8(name) ? name.toString("utf8") : undefined;
}

async function addFolder(
  zip: ZipFile,
  folder: string,
  below: string,
  { rules, everything }: { readonly rules: GitRules | undefined; readonly everything: boolean },
): Promise<number> {
  const own = rules && (await rulesWith(rules, folder, below));
  let count = 0;
  if (everything && below !== "") zip.addEmptyDirectory(below);
  const entries = (await readdir(folder, { encoding: "buffer" })).map(decodeName).sort();
  for (const entry of entries) {
    if (entry === undefined)
      throw new ExitError(
        exitCodes.usage.status,
        `Cannot pack ${folder}: it contains a file whose name is not valid UTF-8.`,
        "Rename the file.",
      );
    // Bundles of shoal dev are temporary.
    if (!everything && (entry === ".git" || entry.startsWith(".shoal-dev-"))) continue;
    const path = join(folder, entry);
    const name = `${below}${entry}`;
    const info = await lstat(path);
    if (own && isIgnored(own, info.isDirectory() ? `${name}/` : name)) continue;
    if (info.isDirectory()) {
      count += await addFolder(zip, path, `${name}/`, { rules: own, everything });
      continue;
    }
    if (info.isSymbolicLink())
      zip.addBuffer(Buffer.from(await readlink(path)), name, { mode: symlinkMode, mtime: info.mtime });
    else if (info.isFile()) zip.addFile(path, name, { mtime: info.mtime, mode: info.mode });
    else continue;
    count++;
  }
  return count;
}
