import { fileFromPath } from "@shoal/transport/node";
import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { endpointOf } from "../connection/endpoint.ts";
import { connect } from "../connection/transport.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import type { CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { showProgress } from "../output/progress.ts";
import { type FileFlags, isStandard } from "./download.ts";
import { reasonOf } from "./local-errors.ts";

type Body = File | ReadableStream<Uint8Array>;

export async function upload(spec: CommandSpec, request: CommandRequest, flags: FileFlags, run: Run): Promise<unknown> {
  if (spec.body === "bytes") {
    const label = isStandard(flags.file) ? "stdin" : basename(flags.file);
    return send(spec, { ...request, body: await sourceOf(flags.file, run) }, { flags, label }, run);
  }
  const body: Record<string, unknown> = { ...request.body };
  let label = spec.words.at(-1) ?? "";
  await using archives = new AsyncDisposableStack();
  for (const { field, kind } of spec.flags) {
    const path = body[field];
    if (kind !== "file" || typeof path !== "string") continue;
    label = basename(path);
    body[field] = await packedFile(path, archives, run);
  }
  return await send(spec, { ...request, body: withMapParts(spec, body) }, { flags, label: flags.label ?? label }, run);
}

/** Names the parts of maps: `env_vars[MODE]`. The transport of commands has no schema that says which objects are maps. */
export function withMapParts(spec: CommandSpec, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const maps = new Set(spec.flags.filter(({ kind }) => kind === "map").map(({ field }) => field));
  return Object.fromEntries(
    Object.entries(body).flatMap(([field, value]): [string, unknown][] =>
      maps.has(field) && typeof value === "object" && value !== null
        ? Object.entries(value).map(([key, item]) => [`${field}[${key}]`, item])
        : [[field, value]],
    ),
  );
}

export async function send(
  spec: CommandSpec,
  request: { readonly params: object; readonly query?: object; readonly body: unknown },
  { flags, label }: { readonly flags: GlobalFlags; readonly label: string },
  run: Run,
): Promise<unknown> {
  const progress = showProgress(run.terminal, label);
  try {
    return await connect(flags, run, spec.open).call(endpointOf(spec), request, {
      signal: run.signal,
      onUploadProgress: ({ sentBytes, totalBytes }) => {
        progress.update(sentBytes, totalBytes);
      },
    });
  } finally {
    progress.stop();
  }
}

/** Packs a folder into a temporary archive, which `archives` removes. */
export async function packedFile(path: string, archives: AsyncDisposableStack, run: Run): Promise<Body> {
  if (isStandard(path) || !(await stat(path).catch(() => undefined))?.isDirectory()) return sourceOf(path, run);
  const { archiveFolder } = await import("./archive.ts");
  const archive = archives.use(await archiveFolder(path, { gitignore: false, signal: run.signal }));
  return new File([await openAsBlob(archive.path)], `${basename(path)}.zip`);
}

export async function sourceOf(file: string | undefined, run: Run): Promise<Body> {
  if (!isStandard(file)) return localFile(file);
  if (run.terminal.keyboard && run.terminal.progress)
    run.terminal.stderr.write("Reading from the terminal; press Ctrl-D on an empty line to finish.\n");
  return Readable.toWeb(Readable.from(run.terminal.stdin)) as ReadableStream<Uint8Array>;
}

/** @throws {ExitError} for anything but a readable regular file. */
export async function localFile(path: string): Promise<File> {
  const unreadable = (error: unknown) =>
    new ExitError(exitCodes.usage.status, `Cannot read ${path}: ${reasonOf(error)}.`);
  const info = await stat(path).catch((error: unknown) => {
    // Node decodes arguments as UTF-8 and replaces invalid bytes.
    if (path.includes("\ufffd"))
      throw new ExitError(
        exitCodes.usage.status,
        `Cannot read ${path}: its name is not valid UTF-8.`,
        "Rename the file, or send its content through stdin with -.",
      );
    throw unreadable(error);
  });
  if (info.isDirectory())
    throw new ExitError(
      exitCodes.usage.status,
      `${path} is a directory.`,
      "Pack it as a ZIP archive, and upload it with: shoal browsers fs upload-zip",
    );
  if (!info.isFile())
    throw new ExitError(exitCodes.usage.status, `${path} is not a regular file.`, "Send it through stdin with -.");
  return fileFromPath(path).catch((error: unknown) => {
    throw unreadable(error);
  });
}
