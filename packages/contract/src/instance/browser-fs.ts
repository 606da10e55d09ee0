import {
  CreateDirectory,
  DeleteDirectoryQuery,
  DirectoryWatch,
  FileInfo,
  FilePath,
  FileSystemEvent,
  Id,
  lazyObject,
  MovePath,
  SetFilePermissions,
  StartWatch,
  UploadFiles,
  UploadZip,
  WriteFile,
} from "@shoal/schemas";
import * as z from "zod/mini";
import { bytes, defineEndpoint, empty, eventStream, json, multipart } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** The files of a session: read, write, move, upload, download, and watch directories. */
const area = "Browser Filesystem";
const idAndWatch = lazyObject(() => ({
  ...sessionIdField,
  /** The watch's id, from `browsers.fs.watch.start`. */
  watch_id: Id,
}));

/** Streams the content. Follows symbolic links. */
export const readFile = defineEndpoint({
  operationId: "browsers.fs.readFile",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, direct: true },
  tool: "read_file",
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/fs/read_file",
  summary: "Read a file.",
  params: sessionId,
  query: FilePath,
  responses: { 200: bytes("application/octet-stream") },
  errors: [400, 401, 403, 404, 500],
});

/** Atomic: the content is written to a temporary file and moved into place. */
export const writeFile = defineEndpoint({
  operationId: "browsers.fs.writeFile",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, direct: true },
  tool: "write_file",
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "PUT",
  path: "/browsers/{id}/fs/write_file",
  summary: "Write a file.",
  params: sessionId,
  query: WriteFile,
  body: bytes("application/octet-stream"),
  responses: { 201: empty },
  errors: [400, 401, 403, 404, 409, 413, 500, 507],
});

/** One level, sorted by name. */
export const listFiles = defineEndpoint({
  operationId: "browsers.fs.listFiles",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  tool: "list_files",
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/fs/list_files",
  summary: "List a directory.",
  params: sessionId,
  query: FilePath,
  responses: { 200: json(z.array(FileInfo)) },
  errors: [400, 401, 403, 404, 500],
});

/** Creates parent directories, like `mkdir -p`. */
export const createDirectory = defineEndpoint({
  operationId: "browsers.fs.createDirectory",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "PUT",
  path: "/browsers/{id}/fs/create_directory",
  summary: "Create a directory.",
  params: sessionId,
  body: json(CreateDirectory),
  responses: { 201: empty },
  errors: [400, 401, 403, 404, 500, 507],
});

/** Deletes a symbolic link itself, not its target. */
export const deleteFile = defineEndpoint({
  operationId: "browsers.fs.deleteFile",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "PUT",
  path: "/browsers/{id}/fs/delete_file",
  summary: "Delete a file.",
  params: sessionId,
  body: json(FilePath),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Refuses `/`, the home directory and mounts. */
export const deleteDirectory = defineEndpoint({
  operationId: "browsers.fs.deleteDirectory",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "PUT",
  path: "/browsers/{id}/fs/delete_directory",
  summary: "Delete a directory and everything in it.",
  params: sessionId,
  query: DeleteDirectoryQuery,
  body: json(FilePath),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Like `chmod` and, if an owner or a group is given, `chown`. */
export const setFilePermissions = defineEndpoint({
  operationId: "browsers.fs.setFilePermissions",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "PUT",
  path: "/browsers/{id}/fs/set_file_permissions",
  summary: "Set permissions and owner.",
  params: sessionId,
  body: json(SetFilePermissions),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Describes a symbolic link itself, not its target. */
export const getFileInfo = defineEndpoint({
  operationId: "browsers.fs.fileInfo",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/fs/file_info",
  summary: "Describe a file or directory.",
  params: sessionId,
  query: FilePath,
  responses: { 200: json(FileInfo) },
  errors: [400, 401, 403, 404, 500],
});

/** Atomic: across filesystems, the copy is moved into place when it is complete. */
export const movePath = defineEndpoint({
  operationId: "browsers.fs.move",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "PUT",
  path: "/browsers/{id}/fs/move",
  summary: "Move or rename a file or directory.",
  params: sessionId,
  body: json(MovePath),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 409, 500, 507],
});

/** Each file is written atomically. Takes parts `files[i][dest_path]` and `files[i][file]`, in any order. */
export const uploadFiles = defineEndpoint({
  operationId: "browsers.fs.upload",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, direct: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "The files are a stream; a repetition writes the same ones." },
  path: "/browsers/{id}/fs/upload",
  summary: "Upload files.",
  params: sessionId,
  body: multipart(UploadFiles),
  responses: { 201: empty },
  errors: [400, 401, 403, 404, 413, 500, 507],
});

/** Archives with absolute names, `..`, links that leave the directory, or too much content are refused before anything is written. */
export const uploadZip = defineEndpoint({
  operationId: "browsers.fs.uploadZip",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, direct: true },
  moves: ["write files"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "The archive is a stream; a repetition writes the same files." },
  path: "/browsers/{id}/fs/upload_zip",
  summary: "Upload a ZIP archive and unpack it.",
  params: sessionId,
  body: multipart(UploadZip),
  responses: { 201: empty },
  errors: [400, 401, 403, 404, 413, 500, 507],
});

/** Streams the archive while it is created. */
export const downloadDirZip = defineEndpoint({
  operationId: "browsers.fs.downloadDirZip",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, direct: true },
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/fs/download_dir_zip",
  summary: "Download a directory as a ZIP archive.",
  params: sessionId,
  query: FilePath,
  responses: { 200: bytes("application/zip") },
  errors: [400, 401, 403, 404, 500],
});

/** Events are buffered from the response on, for readers of the watch. */
export const startWatch = defineEndpoint({
  operationId: "browsers.fs.watch.start",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/fs/watch",
  summary: "Watch a directory for changes.",
  params: sessionId,
  body: json(StartWatch),
  responses: { 201: json(DirectoryWatch) },
  errors: [400, 401, 403, 404, 429, 500, 503, 507],
});

/** Starts with the oldest buffered event, or after `Last-Event-ID`. Ends when the watch is stopped or its directory is deleted. 404 for a stopped watch. */
export const watchEvents = defineEndpoint({
  operationId: "browsers.fs.watch.events",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/fs/watch/{watch_id}/events",
  summary: "Follow a directory watch.",
  params: idAndWatch,
  responses: { 200: eventStream(FileSystemEvent) },
  errors: [400, 401, 403, 404, 429, 500, 507],
});

/** Readers receive the buffered events, then the end of the stream. */
export const stopWatch = defineEndpoint({
  operationId: "browsers.fs.watch.stop",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read files"],
  scope: ["browsers:use"],
  method: "DELETE",
  path: "/browsers/{id}/fs/watch/{watch_id}",
  summary: "Stop a directory watch.",
  params: idAndWatch,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});
