import type { Download } from "@shoal/transport";
import { fileFromPath } from "@shoal/transport/node";
import { randomBytes } from "node:crypto";
import { createWriteStream, openAsBlob, rmSync } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { endpointOf } from "./endpoint.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable, printableLines } from "./format.ts";
import type { Terminal } from "./output.ts";
import type { Run } from "./program.ts";
import { formatBytes, showProgress } from "./progress.ts";
import { connect } from "./transport.ts";
import type { CommandRequest } from "./values.ts";

/** Where bytes come from or go to. */
export interface FileFlags extends GlobalFlags {
  /** What a bar is named; the file when absent. */
  readonly label?: string;
  /** `-` or absent: stdin or stdout. */
  readonly file?: string;
}

/** Reads a file of the session, to stdout or into a file of this machine. */
export async function readFile(spec: CommandSpec, { id, path }: { id: string; path: string }, flags: FileFlags, run: Run): Promise<void> {
  await download({ spec, request: { params: { id }, query: { path }, body: undefined }, label: posix.basename(path), isText: true }, flags, run);
}

/** Downloads a directory of the session as a ZIP archive. */
export async function downloadZip(spec: CommandSpec, { id, path }: { id: string; path: string }, flags: FileFlags, run: Run): Promise<void> {
  await download({ spec, request: { params: { id }, query: { path }, body: undefined }, label: `${posix.basename(path)}.zip` }, flags, run);
}

/** What is downloaded. */
interface Source {
  readonly spec: CommandSpec;
  readonly request: CommandRequest;
  /** What a bar is named. */
  readonly label: string;
  /** May be shown on a terminal. */
  readonly isText?: boolean;
}

/** Downloads what an operation answers with, to stdout or into a file. */
export async function download({ spec, request, label, isText = false }: Source, flags: FileFlags, run: Run): Promise<void> {
  const toScreen = isStandard(flags.file) && run.terminal.screen;
  if (toScreen && flags.file === undefined && !isText)
    throw new ExitError(
      exitCodes.usage.status,
      `Refusing to write ${spec.receives === "application/zip" ? "a ZIP archive" : "binary data"} to a terminal.`,
      "Name a file or a folder with -f, or send the output to a program.",
    );
  // A bar would run into the file's own text.
  const progress = showProgress(toScreen ? { ...run.terminal, progress: false } : run.terminal, label);
  let saved: string | undefined;
  try {
    const found: Download | undefined = await connect(flags, run, spec.open).download(endpointOf(spec), request, {
      signal: run.signal,
      onDownloadProgress: ({ receivedBytes, totalBytes }) => {
        progress.update(receivedBytes, totalBytes);
      },
    });
    if (found === undefined) throw new ExitError(exitCodes.error.status, spec.polish.nothing ?? "There is nothing yet.", "Try again later.");
    const source = Readable.fromWeb(found.stream as Parameters<typeof Readable.fromWeb>[0]);
    if (!isStandard(flags.file)) saved = await save(source, await fileIn(flags.file, found.fileName ?? label), run.signal);
    // "-" in so many words asks for the bytes as they are.
    else if (toScreen && flags.file === undefined) await pipeline(source, harmless(), run.terminal.stdout, { end: false, signal: run.signal });
    else await pipeline(source, run.terminal.stdout, { end: false, signal: run.signal });
  } finally {
    progress.stop();
  }
  if (saved !== undefined) tell(run.terminal, flags, saved);
}

/** The file that a download is saved as: in a directory, under the name that the service suggests. */
async function fileIn(path: string, suggested: string): Promise<string> {
  const isDirectory = path.endsWith("/") || (await stat(path).catch(() => undefined))?.isDirectory() === true;
  return isDirectory ? join(path, suggested) : path;
}

/** Sends bytes or a multipart body, files of this machine among them; a folder is packed. @returns the answer. */
export async function upload(spec: CommandSpec, request: CommandRequest, flags: FileFlags, run: Run): Promise<unknown> {
  if (spec.body === "bytes")
    return sendBody(
      spec,
      { ...request, body: await sourceOf(flags.file, run) },
      { flags, label: isStandard(flags.file) ? "stdin" : basename(flags.file) },
      run,
    );
  const body: Record<string, unknown> = { ...request.body };
  let label = spec.words.at(-1) ?? "";
  await using archives = new AsyncDisposableStack();
  for (const { field, kind } of spec.flags) {
    const path = body[field];
    if (kind !== "file" || typeof path !== "string") continue;
    label = basename(path);
    body[field] = await packedFile(path, archives, run);
  }
  return await sendBody(spec, { ...request, body }, { flags, label: flags.label ?? label }, run);
}

/** Loads extensions of this machine, folders or ZIP archives, into a running session. */
export async function loadExtensions(spec: CommandSpec, target: { id: string; paths: readonly string[] }, flags: FileFlags, run: Run): Promise<void> {
  await using archives = new AsyncDisposableStack();
  const extensions: { name: string; zip_file: File | ReadableStream<Uint8Array> }[] = [];
  for (const path of target.paths) extensions.push({ name: basename(path).replace(/\.zip$/i, ""), zip_file: await packedFile(path, archives, run) });
  const count = extensions.length === 1 ? "1 extension" : `${String(extensions.length)} extensions`;
  await sendBody(spec, { params: { id: target.id }, query: {}, body: { extensions } }, { flags, label: count }, run);
  tell(run.terminal, flags, `Loaded ${count}.`);
}

async function packedFile(path: string, archives: AsyncDisposableStack, run: Run): Promise<File | ReadableStream<Uint8Array>> {
  if (isStandard(path) || !(await stat(path).catch(() => undefined))?.isDirectory()) return sourceOf(path, run);
  const { archiveFolder } = await import("./archive.ts");
  const archive = archives.use(await archiveFolder(path, { gitignore: false, signal: run.signal }));
  return new File([await openAsBlob(archive.path)], `${basename(path)}.zip`);
}

function sendBody(
  spec: CommandSpec,
  request: { readonly params: object; readonly query: object; readonly body: unknown },
  { flags, label }: { flags: GlobalFlags; label: string },
  run: Run,
): Promise<unknown> {
  return sending(label, run.terminal, (onUploadProgress) =>
    connect(flags, run, spec.open).call(endpointOf(spec), request, { signal: run.signal, onUploadProgress }),
  );
}

/** Writes a file of the session from stdin or from a file of this machine. */
export async function writeFile(
  spec: CommandSpec,
  { id, path }: { id: string; path: string },
  flags: FileFlags & { mode?: string },
  run: Run,
): Promise<void> {
  await upload(spec, { params: { id }, query: { path, ...(flags.mode !== undefined && { mode: flags.mode }) }, body: undefined }, flags, run);
  tell(run.terminal, flags, `Wrote ${printable(path)}.`);
}

/** Uploads files of this machine into a directory of the session. */
export async function uploadFiles(
  spec: CommandSpec,
  target: { id: string; files: readonly string[] },
  flags: GlobalFlags & { to: string },
  run: Run,
): Promise<void> {
  const files = await Promise.all(
    target.files.map(async (path) => ({ dest_path: posix.join(flags.to, basename(path)), file: await localFile(path) })),
  );
  const names = new Set(files.map(({ dest_path }) => dest_path));
  if (names.size < files.length)
    throw new ExitError(
      exitCodes.usage.status,
      "Two of the files have the same name; they would overwrite each other.",
      "Upload them one after the other, into different directories.",
    );
  const count = files.length === 1 ? "1 file" : `${String(files.length)} files`;
  await sending(files.length === 1 ? basename(target.files[0] ?? "") : count, run.terminal, async (onUploadProgress) => {
    await connect(flags, run).call(endpointOf(spec), { params: { id: target.id }, body: { files } }, { signal: run.signal, onUploadProgress });
  });
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  tell(run.terminal, flags, `Uploaded ${count} (${formatBytes(size)}) to ${printable(flags.to)}.`);
}

/** Uploads a ZIP archive and unpacks it in the session. */
export async function uploadZip(
  spec: CommandSpec,
  target: { id: string; archive: string },
  flags: GlobalFlags & { to: string },
  run: Run,
): Promise<void> {
  const zip_file = await sourceOf(target.archive, run);
  const name = isStandard(target.archive) ? "archive" : basename(target.archive);
  await sending(name, run.terminal, async (onUploadProgress) => {
    await connect(flags, run).call(
      endpointOf(spec),
      { params: { id: target.id }, body: { zip_file, dest_path: flags.to } },
      { signal: run.signal, onUploadProgress },
    );
  });
  tell(run.terminal, flags, `Unpacked ${isStandard(target.archive) ? "the archive" : printable(target.archive)} in ${printable(flags.to)}.`);
}

type OnUploadProgress = (progress: { sentBytes: number; totalBytes: number | undefined }) => void;

async function sending<T>(label: string, terminal: Terminal, call: (onUploadProgress: OnUploadProgress) => Promise<T>): Promise<T> {
  const progress = showProgress(terminal, label);
  try {
    return await call(({ sentBytes, totalBytes }) => {
      progress.update(sentBytes, totalBytes);
    });
  } finally {
    progress.stop();
  }
}

/** Whether stdin or stdout is meant. */
export function isStandard(file: string | undefined): file is undefined | "-" {
  return file === undefined || file === "-";
}

async function sourceOf(file: string | undefined, run: Run): Promise<File | ReadableStream<Uint8Array>> {
  if (!isStandard(file)) return localFile(file);
  if (run.terminal.keyboard && run.terminal.progress) run.terminal.stderr.write("Reading from the keyboard; Ctrl-D on an empty line ends.\n");
  return Readable.toWeb(Readable.from(run.terminal.stdin)) as ReadableStream<Uint8Array>;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not",
  EISDIR: "it is a directory",
  ENOENT: "it does not exist",
  ENOSPC: "the disk is full",
  ENOTDIR: "part of its path is not a directory",
  EROFS: "the file system is read-only",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}

async function localFile(path: string): Promise<File> {
  const unreadable = (error: unknown) => new ExitError(exitCodes.usage.status, `${path} cannot be read: ${reasonOf(error)}.`);
  const info = await stat(path).catch((error: unknown) => {
    // Node decodes arguments as UTF-8 and replaces what is not.
    if (path.includes("\ufffd"))
      throw new ExitError(
        exitCodes.usage.status,
        `${path} cannot be read: its name is not valid UTF-8.`,
        "Rename the file, or send its content through stdin with -.",
      );
    throw unreadable(error);
  });
  if (info.isDirectory())
    throw new ExitError(
      exitCodes.usage.status,
      `${path} is a directory.`,
      "Pack it, and unpack it in the session with: shoal browsers fs upload-zip",
    );
  if (!info.isFile()) throw new ExitError(exitCodes.usage.status, `${path} is not a file.`, "Send it through stdin instead, with -.");
  return fileFromPath(path).catch((error: unknown) => {
    throw unreadable(error);
  });
}

/** Saves a stream as a file that appears whole or not at all. @returns what to tell. */
export async function save(from: Readable, file: string, signal: AbortSignal): Promise<string> {
  await removeAbandonedParts(file);
  const part = join(dirname(file), `.${basename(file)}.${String(process.pid)}-${randomBytes(4).toString("hex")}.part`);
  const out = createWriteStream(part, { flags: "wx" });
  const opened = new Promise<void>((resolve, reject) => {
    out
      .once("open", () => {
        resolve();
      })
      .once("error", reject);
  });
  // For an end at once, by a second Ctrl-C.
  const removePart = () => {
    rmSync(part, { force: true });
  };
  process.once("exit", removePart);
  try {
    await opened.catch((error: unknown) => {
      from.destroy();
      const missingFolder = error instanceof Error && "code" in error && error.code === "ENOENT";
      throw new ExitError(
        exitCodes.usage.status,
        `${file} cannot be written: ${missingFolder ? `${dirname(file)} does not exist` : reasonOf(error)}.`,
      );
    });
    await pipeline(from, out, { signal });
    const { size } = await stat(part);
    await rename(part, file).catch((error: unknown) => {
      throw new ExitError(exitCodes.usage.status, `${file} cannot be written: ${reasonOf(error)}.`);
    });
    return `Saved ${printable(file)} (${formatBytes(size)}).`;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    process.off("exit", removePart);
  }
}

/** Removes what killed downloads of the same file left: a part names the process that writes it. */
async function removeAbandonedParts(file: string): Promise<void> {
  const folder = dirname(file);
  const prefix = `.${basename(file)}.`;
  for (const name of await readdir(folder).catch(() => [])) {
    const writer = name.startsWith(prefix) ? /^(\d+)-[\da-f]{8}\.part$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (writer !== undefined && !isRunning(Number(writer))) await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Text that cannot steer the terminal that it is shown on. */
function harmless(): Transform {
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

/** Says that it is done, unless results alone are wanted. */
export function tell(terminal: Terminal, flags: GlobalFlags, text: string): void {
  if (flags.quiet !== true) terminal.stderr.write(`${text}\n`);
}
