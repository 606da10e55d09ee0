import { contract as native } from "@shoal/contract";
import { answerJson } from "@shoal/placement";
import { badInput, type BytesReply, type MultipartPart, ServiceError } from "@shoal/router";
import { FileInfo } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import type { Readable } from "node:stream";
import * as z from "zod/mini";
import type { DialectCaller } from "../kit/dialect.ts";
import { callInstance, writeFile } from "../kit/instance-calls.ts";
import type { NativeCalls } from "../kit/native-calls.ts";
import { sessionOf } from "./sessions.ts";
import type { StoredFile } from "./shapes.ts";

/** Paths in answers are absolute, so that clients can pass them to `DOM.setFileInputFiles`. */
const folder = "/tmp/.steel-files";
/** The field `path` may follow the file. */
const uploads = "/tmp/.steel-uploads";
const maxPath = 1000;
const maxFiles = 1000;
const maxFolders = 100;
const removeMs = 10_000;

interface In {
  readonly calls: NativeCalls;
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

async function inSession({ calls }: DialectCaller, id: string, signal: AbortSignal): Promise<In> {
  return { calls, sessionId: (await sessionOf(calls, id)).session_id, signal };
}

/** @throws {ServiceError} 400 for a path that leaves the folder. */
function pathOf(given: string, field: string): string {
  const inside = (given.startsWith(`${folder}/`) ? given.slice(folder.length) : given).replace(/^\/+/, "");
  const parts = inside.split("/");
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\p{Cc}\\]/u.test(part));
  if (!isPlain || inside.length > maxPath)
    throw badInput(field, "must be a path without .. and without empty parts", { limit: maxPath });
  return `${folder}/${inside}`;
}

const toFile = ({ mod_time: lastModified, path, size_bytes: size }: FileInfo): StoredFile => ({
  path,
  size,
  lastModified,
});

/** Writes one file. */
export async function uploadFile(
  caller: DialectCaller,
  id: string,
  { parts, signal }: { readonly parts: AsyncIterable<MultipartPart>; readonly signal: AbortSignal },
): Promise<StoredFile> {
  const session = await inSession(caller, id, signal);
  const temporary = `${uploads}/${createId()}`;
  try {
    return await takeFile(session, temporary, parts);
  } catch (error) {
    await removeFile(session, temporary);
    throw error;
  }
}

async function takeFile(session: In, temporary: string, parts: AsyncIterable<MultipartPart>): Promise<StoredFile> {
  let name: string | undefined;
  let wanted: string | undefined;
  for await (const part of parts) {
    if (part.kind === "file") {
      if (name !== undefined) throw badInput("body.file", "is duplicated");
      name = part.filename;
      await write(session, temporary, part.stream);
    } else if (part.name === "path" && part.value !== "") wanted = pathOf(part.value, "body.path");
    else if (part.name === "file")
      throw new ServiceError(501, "not_implemented", "files are not fetched from addresses", {
        field: "body.file",
        hint: "Send the bytes, or download the file in the session.",
      });
  }
  if (name === undefined) throw badInput("body.file", "required (expected a file)");
  const path = wanted ?? pathOf(name, "body.file");
  await makeFolderOf(session, path);
  const { calls, ...to } = session;
  const body = { src_path: temporary, dest_path: path };
  (await callInstance(calls, native.movePath, { ...to, body })).destroy();
  return toFile(await infoOf(session, path));
}

async function write({ calls, sessionId, signal }: In, path: string, content: Readable): Promise<void> {
  const instance = await calls.instanceFor(native.writeFile, sessionId);
  await writeFile(instance, { path, content, sessionId, signal });
}

/** The client may be gone. */
async function removeFile({ calls, sessionId }: In, path: string): Promise<void> {
  const signal = AbortSignal.timeout(removeMs);
  const sent = { sessionId, signal, body: { path } };
  await callInstance(calls, native.deleteFile, sent).then(
    (answer) => answer.destroy(),
    () => undefined,
  );
}

async function makeFolderOf({ calls, ...to }: In, path: string): Promise<void> {
  const body = { path: path.slice(0, path.lastIndexOf("/")) };
  (await callInstance(calls, native.createDirectory, { ...to, body })).destroy();
}

async function infoOf({ calls, ...to }: In, path: string): Promise<FileInfo> {
  return FileInfo.parse(await answerJson(await callInstance(calls, native.getFileInfo, { ...to, query: { path } })));
}

/** Newest first. */
export async function listFiles(caller: DialectCaller, id: string, signal: AbortSignal) {
  const files = await filesIn(await inSession(caller, id, signal));
  return { data: files.toSorted((a, b) => b.lastModified.localeCompare(a.lastModified)) };
}

async function filesIn({ calls, ...to }: In): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  const folders = [folder];
  for (let at = 0; at < Math.min(folders.length, maxFolders) && files.length < maxFiles; at += 1) {
    const path = folders[at] ?? folder;
    const entries = await listIn({ calls, ...to }, path);
    files.push(...entries.filter(({ is_dir: isFolder }) => !isFolder).map(toFile));
    folders.push(...entries.filter(({ is_dir: isFolder }) => isFolder).map((each) => each.path));
  }
  return files.slice(0, maxFiles);
}

async function listIn({ calls, ...to }: In, path: string): Promise<FileInfo[]> {
  try {
    const answer = await callInstance(calls, native.listFiles, { ...to, query: { path } });
    return z.array(FileInfo).parse(await answerJson(answer));
  } catch (error) {
    if (path === folder && isMissing(error)) return [];
    throw error;
  }
}

const isMissing = (error: unknown): boolean => ServiceError.isInstance(error) && error.status === 404;

export async function readFile(
  caller: DialectCaller,
  { id, path }: { readonly id: string; readonly path: string },
  signal: AbortSignal,
): Promise<BytesReply> {
  const { calls, ...to } = await inSession(caller, id, signal);
  const stream = await callInstance(calls, native.readFile, { ...to, query: { path: pathOf(path, "path") } });
  return { stream, fileName: path.slice(path.lastIndexOf("/") + 1), contentType: "application/octet-stream" };
}

export async function deleteFile(
  caller: DialectCaller,
  { id, path }: { readonly id: string; readonly path: string },
  signal: AbortSignal,
): Promise<void> {
  const { calls, ...to } = await inSession(caller, id, signal);
  (await callInstance(calls, native.deleteFile, { ...to, body: { path: pathOf(path, "path") } })).destroy();
}

export async function deleteFiles(caller: DialectCaller, id: string, signal: AbortSignal): Promise<void> {
  const { calls, ...to } = await inSession(caller, id, signal);
  try {
    (await callInstance(calls, native.deleteDirectory, { ...to, body: { path: folder } })).destroy();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

export async function zipFiles(caller: DialectCaller, id: string, signal: AbortSignal): Promise<BytesReply> {
  const session = await inSession(caller, id, signal);
  const { calls, ...to } = session;
  await makeFolderOf(session, `${folder}/`);
  const stream = await callInstance(calls, native.downloadDirZip, { ...to, query: { path: folder } });
  return { stream, fileName: `${id}.zip`, contentType: "application/zip" };
}
