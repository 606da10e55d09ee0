import { codeOf, createId } from "@shoal/primitives";
import { rmSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../core/types.ts";
import { download } from "../../operations/download.ts";
import { reasonOf } from "../../operations/local-errors.ts";
import { moveToFree } from "../../operations/move-beside.ts";
import { printable } from "../../output/format.ts";
import { notify } from "../../output/output.ts";
import { formatBytes } from "../../output/progress.ts";
import { filesText } from "./copy-places.ts";
import { unpackArchive } from "./unpack-archive.ts";

interface Wanted {
  readonly target: string;
  readonly flags: GlobalFlags;
  /** Replace files of an existing directory, and add hidden ones. */
  readonly force: boolean;
}

/** Downloads a directory next to `target`, and moves it there when it is complete. */
export async function fetchFolder(
  spec: CommandSpec,
  { id, path }: { readonly id: string; readonly path: string },
  { target: typed, flags, force }: Wanted,
  run: Run,
): Promise<void> {
  const target = resolve(typed);
  const part = join(dirname(target), `.${basename(target)}.${String(process.pid)}-${createId()}.part`);
  await mkdir(part, { mode: 0o700 }).catch((error: unknown) => {
    throw cannotWrite(typed, codeOf(error) === "ENOENT" ? `${dirname(target)} does not exist` : reasonOf(error));
  });
  // A second Ctrl-C exits at once.
  const removePart = () => {
    rmSync(part, { recursive: true, force: true });
  };
  process.once("exit", removePart);
  try {
    const archive = join(part, "archive.zip");
    const request = { params: { id }, query: { path }, body: undefined };
    await download({ spec, request, label: basename(target) }, { ...flags, quiet: true, file: archive }, run);
    const content = join(part, "content");
    const { files, bytes, skipped } = await unpackArchive(archive, content, run.signal);
    run.signal.throwIfAborted();
    if (!force) await refuseChanges(content, target, typed);
    await moveInto(content, target, { shown: typed, force });
    notify(run.terminal, flags, `Copied ${filesText(files)} (${formatBytes(bytes)}) to ${printable(typed)}.`);
    if (skipped > 0)
      notify(run.terminal, flags, `Skipped ${String(skipped)} symbolic links and special files of the session.`);
  } finally {
    process.off("exit", removePart);
    await rm(part, { recursive: true, force: true });
  }
}

/** The session chose the names: in a directory of the user, they replace and hide nothing unasked. */
async function refuseChanges(from: string, to: string, shown: string): Promise<void> {
  if ((await lstat(to).catch(() => undefined))?.isDirectory() !== true) return;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [target, name] = [join(to, entry.name), join(shown, entry.name)];
    const present = await lstat(target).catch(() => undefined);
    if (present === undefined && entry.name.startsWith(".")) throw needsForce(name, "the name is hidden");
    if (entry.isDirectory()) await refuseChanges(join(from, entry.name), target, name);
    else if (present !== undefined) throw needsForce(name, "it exists");
  }
}

function needsForce(path: string, reason: string): ExitError {
  return new ExitError(
    exitCodes.usage.status,
    `Cannot write ${printable(path)}: ${reason}.`,
    "Nothing was copied. Name a new directory, or pass --force to replace files and add hidden ones.",
  );
}

/** Merges with an existing directory, without following symbolic links inside it. */
async function moveInto(
  from: string,
  to: string,
  { shown, force }: { readonly shown: string; readonly force: boolean },
): Promise<void> {
  const move = force ? rename : moveToFree;
  const present = await lstat(to).catch(() => undefined);
  if (present === undefined) {
    await rename(from, to).catch((error: unknown) => {
      throw cannotWrite(shown, reasonOf(error));
    });
    return;
  }
  if (!present.isDirectory()) throw cannotWrite(shown, "it exists and is not a directory");
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target, name] = [join(from, entry.name), join(to, entry.name), join(shown, entry.name)];
    if (entry.isDirectory()) await moveInto(source, target, { shown: name, force });
    else
      await move(source, target).catch((error: unknown) => {
        throw cannotWrite(name, reasonOf(error));
      });
  }
}

function cannotWrite(path: string, reason: string): ExitError {
  return new ExitError(exitCodes.usage.status, `Cannot write ${path}: ${reason}.`);
}
