import { BuildFailure } from "./build-failure.ts";
import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import * as z from "zod/mini";

const Metafile = z.object({ inputs: z.record(z.string(), z.unknown()) });
const maxShownCharacters = 200;

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep);
}

/** Tools follow links. @throws {BuildFailure} */
export async function refuseOutsideLinks(work: string): Promise<void> {
  const root = await realpath(work);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const at = join(entry.parentPath, entry.name);
    const target = await readlink(at);
    // A link to a file that does not exist yet.
    const real = await realpath(at).catch(() => resolve(entry.parentPath, target));
    if (isAbsolute(target) || !isInside(root, real))
      throw new BuildFailure(
        `${relative(root, at)} is a link to ${target.slice(0, maxShownCharacters)}, which is outside of the sources. Put the file itself into the sources.`,
      );
  }
}

/** @param metafile - esbuild's list of inputs. @throws {BuildFailure} for an input outside of the sources. */
export async function refuseOutsideInputs(work: string, metafile: string): Promise<void> {
  const root = await realpath(work);
  const { inputs } = Metafile.parse(JSON.parse(await readFile(metafile, "utf8")));
  for (const input of Object.keys(inputs)) {
    const path = input.replace(/^\([\w-]+\):/, "");
    const real = await realpath(resolve(work, path)).catch(() => undefined);
    if (real !== undefined && !isInside(root, real))
      throw new BuildFailure(
        `The entry imports ${path.slice(0, maxShownCharacters)}, which is outside of the sources. Put the file itself into the sources.`,
      );
  }
}

/** Keeps the messages of esbuild about files of the sources: others could quote any file. */
export async function withoutOutsideFiles(work: string, output: string): Promise<string> {
  const root = await realpath(work);
  const kept: string[] = [];
  for (const message of output.split(/^(?=[✘▲])/m)) {
    const places = [...message.matchAll(/^ +(\S.*):\d+:\d+:$/gm)].map(([, path = ""]) => path);
    const outside: string[] = [];
    for (const path of places) {
      const full = resolve(work, path);
      if (!isInside(root, await realpath(full).catch(() => full))) outside.push(path);
    }
    kept.push(
      outside.length === 0
        ? message
        : `✘ [ERROR] ${outside.join(", ").slice(0, maxShownCharacters)}: this file is outside of the sources\n\n`,
    );
  }
  return kept.join("");
}
