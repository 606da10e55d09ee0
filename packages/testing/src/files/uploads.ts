import type { MultipartPart } from "@shoal/router";
import type { Readable } from "node:stream";
import { invalidInput, notADirectory, tooLarge } from "./errors.ts";
import { kindOf, type FileTree } from "./file-tree.ts";
import { below, isWithin, normalisePath } from "./paths.ts";
import { refuseConflicts, unpackZip } from "./zip.ts";

/** Bytes of one write, or of one upload: what a test keeps in memory. */
export const maxUploadBytes = 256 * 1024 ** 2;
/** Files of one upload. */
const maxFiles = 1000;

const partName = /^files\[(\d*)\]\[(dest_path|file)\]$/;

/** Reads a stream whole. @throws {ServiceError} 413 above `limitBytes`. */
export async function readWhole(stream: Readable, what: string, limitBytes = maxUploadBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw tooLarge(what, `${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Incoming {
  readonly label: string;
  path?: string;
  content?: Buffer;
}

/** Writes several files; nothing appears before the whole request was read and is valid. */
export async function uploadFiles(tree: FileTree, parts: AsyncIterable<MultipartPart>): Promise<void> {
  const files = new Map<string, Incoming>();
  const counts = { dest_path: 0, file: 0 };
  let usedBytes = 0;
  for await (const part of parts) {
    const [, index, field] = partName.exec(part.name) ?? [];
    if (index === undefined || (field !== "dest_path" && field !== "file"))
      throw invalidInput(`body.${part.name}`, "unknown part; known are files[i][dest_path] and files[i][file], where i is a number");
    if (Number(index) > maxFiles) throw invalidInput(`body.${part.name}`, `the number must be at most ${maxFiles}`);
    const key = index === "" ? `[${counts[field]++}]` : String(Number(index));
    const file = files.get(key) ?? { label: index === "" ? `body.files${key}` : `body.files[${key}]` };
    files.set(key, file);
    const name = `${file.label}[${field}]`;
    if (part.kind === "field") {
      if (field === "file") throw invalidInput(name, "must be a file: send the part with a filename");
      if (file.path !== undefined) throw invalidInput(name, "is there twice");
      file.path = normalisePath(part.value, name);
      tree.writable(file.path);
    } else {
      if (field === "dest_path") throw invalidInput(name, "must be a text field: send the part without a filename");
      if (file.content !== undefined) throw invalidInput(name, "is there twice");
      file.content = await readWhole(part.stream, "The sum of the files", maxUploadBytes - usedBytes);
      usedBytes += file.content.length;
    }
  }
  for (const { content, path } of completed(tree, [...files.values()])) tree.writeFile(path, content, undefined);
}

function completed(tree: FileTree, files: readonly Incoming[]): { readonly path: string; readonly content: Buffer }[] {
  if (files.length === 0) throw invalidInput("body.files", "required (expected parts files[0][dest_path] and files[0][file])");
  const places: { readonly place: string; readonly label: string }[] = [];
  const ready = files.map(({ content, label, path }) => {
    if (path === undefined) throw invalidInput(`${label}[dest_path]`, "required (expected the absolute path that the file is written to)");
    if (content === undefined) throw invalidInput(`${label}[file]`, "required (expected a file)");
    const { missing, realPath } = tree.writable(path);
    places.push({ place: below(realPath, ...missing), label });
    return { path, content };
  });
  for (const [index, { label, place }] of places.entries()) {
    for (const other of places.slice(0, index)) {
      if (other.place === place) throw invalidInput(`${label}[dest_path]`, `leads to the same file as ${other.label}[dest_path]`);
      if (isWithin(other.place, place)) throw invalidInput(`${label}[dest_path]`, `lies below ${other.label}[dest_path], which is a file`);
      if (isWithin(place, other.place)) throw invalidInput(`${other.label}[dest_path]`, `lies below ${label}[dest_path], which is a file`);
    }
  }
  return ready;
}

/** Unpacks an archive into a directory, which is made when missing; a refused or broken archive leaves nothing. */
export async function uploadZip(tree: FileTree, parts: AsyncIterable<MultipartPart>): Promise<void> {
  let path: string | undefined;
  let archive: Buffer | undefined;
  for await (const part of parts) {
    const name = `body.${part.name}`;
    if (part.name === "dest_path") {
      if (part.kind === "file") throw invalidInput(name, "must be a text field: send the part without a filename");
      if (path !== undefined) throw invalidInput(name, "is there twice");
      path = normalisePath(part.value, name);
      destination(tree, path);
    } else if (part.name === "zip_file") {
      if (part.kind === "field") throw invalidInput(name, "must be a file: send the part with a filename");
      if (archive !== undefined) throw invalidInput(name, "is there twice");
      archive = await readWhole(part.stream, "The archive");
    } else throw invalidInput(name, "unknown part; known are zip_file and dest_path");
  }
  if (path === undefined) throw invalidInput("body.dest_path", "required (expected the absolute path of a directory)");
  if (archive === undefined) throw invalidInput("body.zip_file", "required (expected a file)");
  const unpacked = await unpackZip(archive);
  const found = destination(tree, path);
  if (found.missing.length === 0) refuseConflicts(found.node, unpacked, path);
  tree.merge(tree.makeDirectories(found, 0o755), unpacked);
}

function destination(tree: FileTree, path: string): ReturnType<FileTree["locate"]> {
  const found = tree.locate(path, { follow: true, action: "unpack into" });
  if (found.node.kind !== "directory") throw notADirectory("unpack into", path, kindOf(found.node));
  return found;
}
