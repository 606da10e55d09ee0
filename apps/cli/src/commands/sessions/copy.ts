import { ApiError } from "@shoal/transport";
import type { FileInfo } from "@shoal/schemas";
import { stat } from "node:fs/promises";
import { basename, join, posix, resolve } from "node:path";
import { call } from "../../connection/call.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../core/types.ts";
import { download } from "../../operations/download.ts";
import { reasonOf } from "../../operations/local-errors.ts";
import { send, sourceOf } from "../../operations/upload.ts";
import { printable } from "../../output/format.ts";
import { notify } from "../../output/output.ts";
import { filesText, type Place, placeOf } from "./copy-places.ts";
import { currentSessionId } from "../../connection/current-session.ts";

export interface CopyFlags extends GlobalFlags {
  readonly recursive?: boolean;
  readonly force?: boolean;
}

interface Remote {
  readonly id: string;
  readonly path: string;
}

/** Copies files between this machine and a session. */
export class Copy {
  readonly #specOf: (operationId: string) => CommandSpec;
  readonly #flags: CopyFlags;
  readonly #run: Run;

  constructor(specOf: (operationId: string) => CommandSpec, flags: CopyFlags, run: Run) {
    this.#specOf = specOf;
    this.#flags = flags;
    this.#run = run;
  }

  async run(paths: readonly string[]): Promise<void> {
    const places = paths.map((path) => placeOf(path));
    const sources = places.slice(0, -1);
    const to = places.at(-1);
    if (to === undefined || sources.length === 0) throw new UsageError("Name a source and a destination.");
    if (to.kind === "remote") await this.#sendAll(sources, this.#remote(to));
    else await this.#fetchAll(sources, to);
  }

  #remote({ session, path }: Extract<Place, { kind: "remote" }>): Remote {
    return { id: session === "" ? currentSessionId(undefined, this.#flags, this.#run) : session, path };
  }

  async #sendAll(sources: readonly Place[], to: Remote): Promise<void> {
    const isFolder = (await this.#isRemoteFolder(to)) || to.path.endsWith("/");
    if (sources.length > 1 && !isFolder)
      throw new UsageError(
        `${printable(to.path)} is not a directory of the session. End it with a slash to create it.`,
      );
    for (const source of sources) {
      if (source.kind === "remote")
        throw new UsageError(
          "Copy between two sessions in two steps: first to this machine, then to the other session.",
        );
      if (source.kind === "standard") {
        if (isFolder) throw new UsageError("Name a file of the session for the content of stdin, not a directory.");
        await this.#sendFile("-", undefined, to);
      } else await this.#sendPath(source.path, isFolder ? inside(to, basename(resolve(source.path))) : to);
    }
  }

  async #sendPath(path: string, to: Remote): Promise<void> {
    const info = await stat(path).catch((error: unknown) => {
      throw new ExitError(exitCodes.usage.status, `Cannot read ${path}: ${reasonOf(error)}.`);
    });
    if (!info.isDirectory()) return this.#sendFile(path, (info.mode & 0o111) === 0 ? undefined : "755", to);
    if (this.#flags.recursive !== true) throw needsRecursive(path);
    const { archiveFolder } = await import("../../operations/archive.ts");
    const { openAsBlob } = await import("node:fs");
    await using archive = await archiveFolder(path, { gitignore: false, everything: true, signal: this.#run.signal });
    const zip_file = new File([await openAsBlob(archive.path)], "folder.zip");
    const request = { params: { id: to.id }, body: { zip_file, dest_path: to.path } };
    await send(
      this.#specOf("browsers.fs.uploadZip"),
      request,
      { flags: this.#flags, label: basename(path) },
      this.#run,
    );
    this.#copied(`${printable(path)} (${filesText(archive.files)})`, to.path);
  }

  async #sendFile(path: string, mode: string | undefined, to: Remote): Promise<void> {
    const folder = posix.dirname(to.path);
    // A destination with a slash at its end may be missing.
    if (to.path.endsWith("/") || !(await this.#isRemoteFolder({ ...to, path: folder })))
      await this.#call("browsers.fs.createDirectory", to.id, {}, { path: folder });
    const query = { path: to.path, ...(mode !== undefined && { mode }) };
    const label = path === "-" ? "stdin" : basename(path);
    await send(
      this.#specOf("browsers.fs.writeFile"),
      { params: { id: to.id }, query, body: await sourceOf(path, this.#run) },
      { flags: this.#flags, label },
      this.#run,
    );
    this.#copied(path === "-" ? "stdin" : printable(path), to.path);
  }

  async #fetchAll(sources: readonly Place[], to: Exclude<Place, { kind: "remote" }>): Promise<void> {
    const folder = to.kind === "local" && (await isLocalFolder(to.path)) ? to.path : undefined;
    if (sources.length > 1 && folder === undefined)
      throw new UsageError("Name an existing directory as the destination of several files.");
    for (const source of sources) {
      if (source.kind !== "remote")
        throw new UsageError("Name a session in the source or in the destination: SESSION:/path, or :/path.");
      await this.#fetch(this.#remote(source), folder, to);
    }
  }

  async #fetch(from: Remote, folder: string | undefined, to: Exclude<Place, { kind: "remote" }>): Promise<void> {
    // The name that was typed: names from the session are not trusted.
    const name = posix.basename(from.path);
    const { is_dir } = await this.#info(from);
    if (is_dir && this.#flags.recursive !== true) throw needsRecursive(from.path);
    if (to.kind === "standard") {
      if (is_dir)
        throw new UsageError(
          `${from.path} is a directory. Write it as an archive with: shoal browsers fs download-dir-zip`,
        );
      return this.#fetchFile(from, undefined);
    }
    if (folder !== undefined && name === "")
      throw new UsageError("Name a new directory as the destination of the session's root.");
    const target = folder === undefined ? to.path : join(folder, name);
    if (!is_dir) return this.#fetchFile(from, target);
    const { fetchFolder } = await import("./fetch-folder.ts");
    await fetchFolder(
      this.#specOf("browsers.fs.downloadDirZip"),
      from,
      { target, flags: this.#flags, force: this.#flags.force === true },
      this.#run,
    );
  }

  async #fetchFile({ id, path }: Remote, file: string | undefined): Promise<void> {
    const request = { params: { id }, query: { path }, body: undefined };
    const spec = this.#specOf("browsers.fs.readFile");
    const flags = { ...this.#flags, ...(file !== undefined && { file }) };
    await download({ spec, request, label: posix.basename(path), isText: true }, flags, this.#run);
  }

  async #isRemoteFolder(place: Remote): Promise<boolean> {
    try {
      return (await this.#info(place)).is_dir;
    } catch (error) {
      // The next call reports a missing session.
      if (ApiError.isInstance(error) && error.status === 404) return false;
      throw error;
    }
  }

  async #info({ id, path }: Remote): Promise<FileInfo> {
    // The contract's type.
    return (await this.#call("browsers.fs.fileInfo", id, { path })) as FileInfo;
  }

  async #call(
    operationId: string,
    id: string,
    query: object,
    body?: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const request = { params: { id }, query: { ...query }, body };
    return (await call(this.#specOf(operationId), request, this.#flags, this.#run)).value;
  }

  #copied(what: string, to: string): void {
    notify(this.#run.terminal, this.#flags, `Copied ${what} to ${printable(to)}.`);
  }
}

function inside({ id, path }: Remote, name: string): Remote {
  return { id, path: posix.join(path, name) };
}

function needsRecursive(path: string): ExitError {
  return new ExitError(exitCodes.usage.status, `${path} is a directory.`, "Pass -r to copy it with its content.");
}

async function isLocalFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
