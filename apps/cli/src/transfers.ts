import { downloadDirZip as downloadDirZipEndpoint, readFile as readFileEndpoint, uploadFiles, uploadZip as uploadZipEndpoint, writeFile as writeFileEndpoint } from "@shoal/contract";
import { fileFromPath } from "@shoal/transport/node";
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connect, ExitError, type GlobalFlags } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable, type Terminal } from "./output.ts";
import type { Run } from "./program.ts";
import { formatBytes, showProgress } from "./progress.ts";

interface FileFlags extends GlobalFlags {
  /** `-` or absent: stdin or stdout. */
  readonly file?: string;
}

/** Reads a file of the session, to stdout or into a file of this machine. */
export async function readFile(target: { id: string; path: string }, flags: FileFlags, run: Run): Promise<void> {
  const progress = await showProgress(run.terminal, basename(target.path));
  try {
    const { stream } = await connect(flags, run).download(
      readFileEndpoint,
      { params: { id: target.id }, query: { path: target.path } },
      { signal: run.signal, onDownloadProgress: ({ receivedBytes, totalBytes }) => { progress.update(receivedBytes, totalBytes); } },
    );
    await save(stream, flags.file, run);
  } finally {
    progress.stop();
  }
}

/** Downloads a directory of the session as a ZIP archive. */
export async function downloadZip(target: { id: string; path: string }, flags: FileFlags, run: Run): Promise<void> {
  const progress = await showProgress(run.terminal, `${basename(target.path)}.zip`);
  try {
    const { stream } = await connect(flags, run).download(
      downloadDirZipEndpoint,
      { params: { id: target.id }, query: { path: target.path } },
      { signal: run.signal, onDownloadProgress: ({ receivedBytes, totalBytes }) => { progress.update(receivedBytes, totalBytes); } },
    );
    await save(stream, flags.file, run);
  } finally {
    progress.stop();
  }
}

/** Writes a file of the session from stdin or from a file of this machine. */
export async function writeFile(target: { id: string; path: string }, flags: FileFlags & { mode?: string }, run: Run): Promise<void> {
  const fromStdin = flags.file === undefined || flags.file === "-";
  const progress = await showProgress(run.terminal, basename(target.path));
  try {
    const body = fromStdin ? (Readable.toWeb(Readable.from(run.terminal.stdin)) as ReadableStream<Uint8Array>) : await localFile(flags.file ?? "");
    await connect(flags, run).call(
      writeFileEndpoint,
      { params: { id: target.id }, query: { path: target.path, ...(flags.mode !== undefined && { mode: flags.mode }) }, body },
      { signal: run.signal, onUploadProgress: ({ sentBytes, totalBytes }) => { progress.update(sentBytes, totalBytes); } },
    );
  } finally {
    progress.stop();
  }
  done(run.terminal, `Wrote ${printable(target.path)}.`);
}

/** Uploads files of this machine into a directory of the session. */
export async function upload(target: { id: string; files: readonly string[] }, flags: GlobalFlags & { to: string }, run: Run): Promise<void> {
  const files = await Promise.all(target.files.map(async (path) => ({ dest_path: posix.join(flags.to, basename(path)), file: await localFile(path) })));
  const names = new Set(files.map(({ dest_path }) => dest_path));
  if (names.size < files.length) throw new ExitError(exitCodes.usage.status, "Two of the files have the same name; they would overwrite each other.");
  const progress = await showProgress(run.terminal, files.length === 1 ? basename(target.files[0] ?? "") : `${String(files.length)} files`);
  try {
    await connect(flags, run).call(uploadFiles, { params: { id: target.id }, body: { files } }, { signal: run.signal, onUploadProgress: ({ sentBytes, totalBytes }) => { progress.update(sentBytes, totalBytes); } });
  } finally {
    progress.stop();
  }
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  done(run.terminal, `Uploaded ${files.length === 1 ? "1 file" : `${String(files.length)} files`} (${formatBytes(size)}) to ${printable(flags.to)}.`);
}

/** Uploads a ZIP archive and unpacks it in the session. */
export async function uploadZip(target: { id: string; archive: string }, flags: GlobalFlags & { to: string }, run: Run): Promise<void> {
  const progress = await showProgress(run.terminal, basename(target.archive));
  try {
    const zip_file = target.archive === "-" ? (Readable.toWeb(Readable.from(run.terminal.stdin)) as ReadableStream<Uint8Array>) : await localFile(target.archive);
    await connect(flags, run).call(
      uploadZipEndpoint,
      { params: { id: target.id }, body: { zip_file, dest_path: flags.to } },
      { signal: run.signal, onUploadProgress: ({ sentBytes, totalBytes }) => { progress.update(sentBytes, totalBytes); } },
    );
  } finally {
    progress.stop();
  }
  done(run.terminal, `Unpacked ${printable(target.archive)} in ${printable(flags.to)}.`);
}

async function localFile(path: string): Promise<File> {
  const info = await stat(path).catch((error: unknown) => {
    throw new ExitError(exitCodes.usage.status, `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  });
  if (!info.isFile()) throw new ExitError(exitCodes.usage.status, `${path} is not a file.`, info.isDirectory() ? "Pack it and use upload-zip for a directory." : undefined);
  return fileFromPath(path);
}

/** To stdout, or into a file that appears whole or not at all. */
async function save(stream: ReadableStream<Uint8Array>, file: string | undefined, run: Run): Promise<void> {
  const source = Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
  if (file === undefined || file === "-") {
    await pipeline(source, run.terminal.stdout, { end: false, signal: run.signal });
    return;
  }
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString("hex")}.part`);
  try {
    await pipeline(source, createWriteStream(part, { flags: "wx" }), { signal: run.signal });
    const { size } = await stat(part);
    await rename(part, file);
    done(run.terminal, `Saved ${printable(file)} (${formatBytes(size)}).`);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

function done(terminal: Terminal, text: string): void {
  terminal.stderr.write(`${text}\n`);
}
