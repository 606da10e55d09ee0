import { basename, posix } from "node:path";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../core/types.ts";
import { download, type FileFlags, isStandard } from "../../operations/download.ts";
import { localFile, packedFile, send, sourceOf, upload } from "../../operations/upload.ts";
import { printable } from "../../output/format.ts";
import { notify } from "../../output/output.ts";
import { formatBytes } from "../../output/progress.ts";

interface RemotePath {
  readonly id: string;
  readonly path: string;
}

/** To stdout or a local file. */
export async function readFile(spec: CommandSpec, { id, path }: RemotePath, flags: FileFlags, run: Run): Promise<void> {
  const request = { params: { id }, query: { path }, body: undefined };
  await download({ spec, request, label: posix.basename(path), isText: true }, flags, run);
}

export async function downloadZip(
  spec: CommandSpec,
  { id, path }: RemotePath,
  flags: FileFlags,
  run: Run,
): Promise<void> {
  const request = { params: { id }, query: { path }, body: undefined };
  await download({ spec, request, label: `${posix.basename(path)}.zip` }, flags, run);
}

/** From stdin or a local file. */
export async function writeFile(
  spec: CommandSpec,
  { id, path }: RemotePath,
  flags: FileFlags & { readonly mode?: string },
  run: Run,
): Promise<void> {
  const query = { path, ...(flags.mode !== undefined && { mode: flags.mode }) };
  await upload(spec, { params: { id }, query, body: undefined }, flags, run);
  notify(run.terminal, flags, `Wrote ${printable(path)}.`);
}

export async function uploadFiles(
  spec: CommandSpec,
  target: { readonly id: string; readonly files: readonly string[] },
  flags: GlobalFlags & { readonly to: string },
  run: Run,
): Promise<void> {
  const files = await Promise.all(
    target.files.map(async (path) => ({
      dest_path: posix.join(flags.to, basename(path)),
      file: await localFile(path),
    })),
  );
  if (new Set(files.map(({ dest_path }) => dest_path)).size < files.length)
    throw new ExitError(
      exitCodes.usage.status,
      "Two of the files have the same name and would overwrite each other.",
      "Upload them separately, into different directories.",
    );
  const count = files.length === 1 ? "1 file" : `${String(files.length)} files`;
  const label = files.length === 1 ? basename(target.files[0] ?? "") : count;
  await send(spec, { params: { id: target.id }, body: { files } }, { flags, label }, run);
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  notify(run.terminal, flags, `Uploaded ${count} (${formatBytes(size)}) to ${printable(flags.to)}.`);
}

export async function uploadZip(
  spec: CommandSpec,
  target: { readonly id: string; readonly archive: string },
  flags: GlobalFlags & { readonly to: string },
  run: Run,
): Promise<void> {
  const isStdin = isStandard(target.archive);
  const body = { zip_file: await sourceOf(target.archive, run), dest_path: flags.to };
  const label = isStdin ? "archive" : basename(target.archive);
  await send(spec, { params: { id: target.id }, body }, { flags, label }, run);
  const name = isStdin ? "the archive" : printable(target.archive);
  notify(run.terminal, flags, `Unpacked ${name} in ${printable(flags.to)}.`);
}

/** Accepts folders and ZIP archives. */
export async function loadExtensions(
  spec: CommandSpec,
  target: { readonly id: string; readonly paths: readonly string[] },
  flags: FileFlags,
  run: Run,
): Promise<void> {
  await using archives = new AsyncDisposableStack();
  const extensions: { name: string; zip_file: File | ReadableStream<Uint8Array> }[] = [];
  for (const path of target.paths)
    extensions.push({ name: basename(path).replace(/\.zip$/i, ""), zip_file: await packedFile(path, archives, run) });
  const count = extensions.length === 1 ? "1 extension" : `${String(extensions.length)} extensions`;
  const request = { params: { id: target.id }, query: {}, body: { extensions } };
  await send(spec, request, { flags, label: count }, run);
  notify(run.terminal, flags, `Loaded ${count}.`);
}
