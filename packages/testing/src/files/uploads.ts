import {
  contentTooLarge,
  destinationBelowFile,
  duplicatePart,
  fileExpected,
  notADirectory,
  partIndexTooHigh,
  partRequired,
  sameDestination,
  textExpected,
} from "@shoal/contract/refusals";
import { ServiceError, type MultipartPart } from "@shoal/router";
import type { Readable } from "node:stream";
import { kindOf, type FileTree } from "./file-tree.ts";
import { below, isWithin, normalisePath } from "./paths.ts";
import { refuseConflicts, unpackZip } from "./zip.ts";

/** Maximum bytes of one write or upload, since tests keep them in memory. */
export const maxUploadBytes = 256 * 1024 ** 2;
const maxFiles = 1000;

const partName = /^files\[(\d*)\]\[(dest_path|file)\]$/;

/** Reads a stream to its end. @throws {ServiceError} 413 above `limitBytes`. */
export async function readWhole(stream: Readable, what: string, limitBytes = maxUploadBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw ServiceError.of(contentTooLarge(what, maxUploadBytes, `${maxUploadBytes} bytes`));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Incoming {
  readonly label: string;
  path?: string;
  content?: Buffer;
}

/** Writes several files, after the whole request is read and valid. */
export async function uploadFiles(tree: FileTree, parts: AsyncIterable<MultipartPart>): Promise<void> {
  const files = new Map<string, Incoming>();
  const counts = { dest_path: 0, file: 0 };
  let usedBytes = 0;
  for await (const part of parts) {
    const [, index, field] = partName.exec(part.name) ?? [];
    if (index === undefined || (field !== "dest_path" && field !== "file"))
      throw new TypeError(`The form of uploads has no part ${part.name}.`);
    if (Number(index) > maxFiles) throw ServiceError.of(partIndexTooHigh(part.name, maxFiles));
    const key = index === "" ? `[${counts[field]++}]` : String(Number(index));
    const file = files.get(key) ?? { label: index === "" ? `body.files${key}` : `body.files[${key}]` };
    files.set(key, file);
    const name = `${file.label}[${field}]`;
    if (part.kind === "field") {
      if (field === "file") throw ServiceError.of(fileExpected(name));
      if (file.path !== undefined) throw ServiceError.of(duplicatePart(name));
      file.path = normalisePath(part.value, name);
      tree.writable(file.path);
    } else {
      if (field === "dest_path") throw ServiceError.of(textExpected(name));
      if (file.content !== undefined) throw ServiceError.of(duplicatePart(name));
      file.content = await readWhole(part.stream, "The sum of the files", maxUploadBytes - usedBytes);
      usedBytes += file.content.length;
    }
  }
  for (const { content, path } of completed(tree, [...files.values()])) tree.writeFile(path, content, undefined);
}

function completed(tree: FileTree, files: readonly Incoming[]): { readonly path: string; readonly content: Buffer }[] {
  if (files.length === 0)
    throw ServiceError.of(partRequired("body.files", "parts files[0][dest_path] and files[0][file]"));
  const places: { readonly place: string; readonly label: string }[] = [];
  const ready = files.map(({ content, label, path }) => {
    if (path === undefined)
      throw ServiceError.of(partRequired(`${label}[dest_path]`, "the absolute path that the file is written to"));
    if (content === undefined) throw ServiceError.of(partRequired(`${label}[file]`, "a file"));
    const { missing, realPath } = tree.writable(path);
    places.push({ place: below(realPath, ...missing), label });
    return { path, content };
  });
  for (const [index, { label, place }] of places.entries()) {
    for (const other of places.slice(0, index)) {
      if (other.place === place) throw ServiceError.of(sameDestination(label, other.label));
      if (isWithin(other.place, place)) throw ServiceError.of(destinationBelowFile(label, other.label));
      if (isWithin(place, other.place)) throw ServiceError.of(destinationBelowFile(other.label, label));
    }
  }
  return ready;
}

/** Unpacks an archive into a directory, which is made if missing. A refused or broken archive changes nothing. */
export async function uploadZip(tree: FileTree, parts: AsyncIterable<MultipartPart>): Promise<void> {
  let path: string | undefined;
  let archive: Buffer | undefined;
  for await (const part of parts) {
    const name = `body.${part.name}`;
    if (part.name === "dest_path") {
      if (part.kind === "file") throw ServiceError.of(textExpected(name));
      if (path !== undefined) throw ServiceError.of(duplicatePart(name));
      path = normalisePath(part.value, name);
      destination(tree, path);
    } else if (part.name === "zip_file") {
      if (part.kind === "field") throw ServiceError.of(fileExpected(name));
      if (archive !== undefined) throw ServiceError.of(duplicatePart(name));
      archive = await readWhole(part.stream, "The archive");
    } else throw new TypeError(`The form of archives has no part ${part.name}.`);
  }
  if (path === undefined) throw ServiceError.of(partRequired("body.dest_path", "the absolute path of a directory"));
  if (archive === undefined) throw ServiceError.of(partRequired("body.zip_file", "a file"));
  const unpacked = await unpackZip(archive);
  const found = destination(tree, path);
  if (found.missing.length === 0) refuseConflicts(found.node, unpacked, path);
  tree.merge(tree.makeDirectories(found, 0o755), unpacked);
}

function destination(tree: FileTree, path: string): ReturnType<FileTree["locate"]> {
  const found = tree.locate(path, { follow: true, action: "unpack into" });
  if (found.node.kind !== "directory") throw ServiceError.of(notADirectory("unpack into", path, kindOf(found.node)));
  return found;
}
