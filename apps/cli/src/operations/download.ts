import type { Download } from "@shoal/transport";
import { codeOf, createId } from "@shoal/primitives";
import { isRunning } from "@shoal/primitives/node";
import { createWriteStream, rmSync } from "node:fs";
import { chmod, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { connect } from "../connection/transport.ts";
import { endpointOf } from "../connection/endpoint.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import type { CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { printable, printableLines } from "../output/format.ts";
import { notify } from "../output/output.ts";
import { formatBytes, showProgress } from "../output/progress.ts";
import { reasonOf } from "./local-errors.ts";
import { moveBeside } from "./move-beside.ts";
import { isSpecial, writeInPlace } from "./write-in-place.ts";

export interface FileFlags extends GlobalFlags {
  /** Default: the file name. */
  readonly label?: string;
  /** `-` or absent: stdin or stdout. */
  readonly file?: string;
}

interface Source {
  readonly spec: CommandSpec;
  readonly request: CommandRequest;
  /** Also the file name if the service suggests none. */
  readonly label: string;
  readonly isText?: boolean;
}

export function isStandard(file: string | undefined): file is undefined | "-" {
  return file === undefined || file === "-";
}

export async function download(
  { spec, request, label, isText = false }: Source,
  flags: FileFlags,
  run: Run,
): Promise<void> {
  const toScreen = isStandard(flags.file) && run.terminal.screen;
  if (toScreen && flags.file === undefined && !isText) throw refuseTerminal();
  // A progress bar would mix with the text of the file.
  const progress = showProgress(toScreen ? { ...run.terminal, progress: false } : run.terminal, label);
  let saved: string | undefined;
  try {
    const found: Download | undefined = await connect(flags, run, spec.open).download(endpointOf(spec), request, {
      signal: run.signal,
      onDownloadProgress: ({ receivedBytes, totalBytes }) => {
        progress.update(receivedBytes, totalBytes);
      },
    });
    if (found === undefined)
      throw new ExitError(
        exitCodes.error.status,
        spec.entry.nothing ?? "The content is not available yet.",
        "Try again later.",
      );
    const source = Readable.fromWeb(found.stream as Parameters<typeof Readable.fromWeb>[0]);
    if (!isStandard(flags.file)) saved = await saveAt(source, flags.file, found.fileName ?? label, run.signal);
    // An explicit "-" prints the bytes unchanged.
    else if (toScreen && flags.file === undefined)
      await pipeline(source, escapeControls(), run.terminal.stdout, { end: false, signal: run.signal });
    else await pipeline(source, run.terminal.stdout, { end: false, signal: run.signal });
  } finally {
    progress.stop();
  }
  if (saved !== undefined) notify(run.terminal, flags, saved);
}

/** The error for binary data on a terminal. */
export function refuseTerminal(): ExitError {
  return new ExitError(
    exitCodes.usage.status,
    "Refusing to write binary data to a terminal.",
    "Name a file or folder with -f, or redirect the output.",
  );
}

async function saveAt(from: Readable, path: string, suggested: string, signal: AbortSignal): Promise<string> {
  const isDirectory = path.endsWith("/") || (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isDirectory) return save(from, path, signal);
  // The other side chose the name, so it replaces no file.
  return save(from, join(path, suggested), signal, moveBeside);
}

/** Moves a complete file to its name. @returns the name. */
type Move = (part: string, file: string) => Promise<string>;

const replace: Move = async (part, file) => {
  await rename(part, file);
  return file;
};

/** Atomic, except for devices and pipes. Keeps the permissions of an existing file. @returns the message to print. */
export async function save(from: Readable, wanted: string, signal: AbortSignal, move = replace): Promise<string> {
  // `pipeline` reports errors of the download, also those before it.
  from.on("error", () => undefined);
  if (await isSpecial(wanted)) {
    const bytes = await writeInPlace(from, wanted, signal).catch((error: unknown) => {
      throw isOfFile(error) ? cannotWrite(wanted, reasonOf(error)) : error;
    });
    return savedText(wanted, bytes);
  }
  // The file may be a link into another folder.
  let file = move === replace ? await realpath(wanted).catch(() => wanted) : wanted;
  const mode = move === replace ? await modeOf(file) : undefined;
  await removeAbandonedParts(file);
  const part = join(dirname(file), `.${basename(file)}.${String(process.pid)}-${createId()}.part`);
  const out = createWriteStream(part, { flags: "wx", ...(mode !== undefined && { mode }) });
  // A second Ctrl-C exits at once.
  const removePart = () => {
    rmSync(part, { force: true });
  };
  process.once("exit", removePart);
  try {
    await opened(out).catch((error: unknown) => {
      from.destroy();
      throw cannotWrite(file, codeOf(error) === "ENOENT" ? `${dirname(file)} does not exist` : reasonOf(error));
    });
    await pipeline(from, out, { signal });
    const { size } = await stat(part);
    // Without the bits that the umask has removed.
    if (mode !== undefined) await chmod(part, mode);
    file = await move(part, file).catch((error: unknown) => {
      throw cannotWrite(file, reasonOf(error));
    });
    return savedText(move === replace ? wanted : file, size);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    process.off("exit", removePart);
  }
}

/** @returns `undefined` if the file does not exist. */
async function modeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined ? undefined : found.mode & 0o777;
}

const savedText = (file: string, bytes: number) => `Saved ${printable(file)} (${formatBytes(bytes)}).`;

const isOfFile = (error: unknown) => error instanceof Error && "syscall" in error && !("hostname" in error);

function opened(stream: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    stream
      .once("open", () => {
        resolve();
      })
      .once("error", reject);
  });
}

function cannotWrite(file: string, reason: string): ExitError {
  return new ExitError(exitCodes.usage.status, `Cannot write ${file}: ${reason}.`);
}

/** Removes parts left by killed downloads of the same file: their names contain the process id. */
async function removeAbandonedParts(file: string): Promise<void> {
  const folder = dirname(file);
  const prefix = `.${basename(file)}.`;
  for (const name of await readdir(folder).catch(() => [])) {
    const writer = name.startsWith(prefix) ? /^(\d+)-\w{8,32}\.part$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (writer !== undefined && !isRunning(Number(writer)))
      await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}

/** Untrusted text must not control the terminal. */
function escapeControls(): Transform {
  const decoder = new StringDecoder("utf8");
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      next(null, printableLines(decoder.write(chunk)));
    },
    flush(next) {
      next(null, printableLines(decoder.end()));
    },
  });
}
