import { ChromeStoreExtension, Extension, Id, lazyObject, ListExtensions, UploadExtension } from "@shoal/schemas";
import { bytes, defineEndpoint, empty, json, multipart, page } from "../base/endpoint.ts";

/** Chrome extensions that are stored once and loaded into sessions. */
const area = "Extensions";
const idOrName = lazyObject(() => ({
  /** The extension's id, or its name. */
  id_or_name: Id,
}));

/** Takes a ZIP archive of the unpacked extension, at most 50 MiB. Sessions name it in `extensions`. */
export const uploadExtension = defineEndpoint({
  operationId: "extensions.upload",
  area,
  plane: "control",
  moves: ["write extensions", "write code"],
  method: "POST",
  path: "/extensions",
  summary: "Upload an extension.",
  body: multipart(UploadExtension),
  responses: { 201: json(Extension) },
  errors: [400, 401, 403, 409, 413, 500],
});

/** Newest first. */
export const listExtensions = defineEndpoint({
  operationId: "extensions.list",
  area,
  plane: "control",
  moves: ["read extensions"],
  method: "GET",
  path: "/extensions",
  summary: "List extensions.",
  query: ListExtensions,
  responses: { 200: page(Extension) },
  errors: [400, 401, 500],
});

/** An id takes precedence over a name. */
export const getExtension = defineEndpoint({
  operationId: "extensions.get",
  area,
  plane: "control",
  moves: ["read extensions"],
  method: "GET",
  path: "/extensions/{id_or_name}/metadata",
  summary: "Get an extension by id or name.",
  params: idOrName,
  responses: { 200: json(Extension) },
  errors: [401, 404, 500],
});

/** Returns the uploaded ZIP archive. */
export const downloadExtension = defineEndpoint({
  operationId: "extensions.download",
  area,
  plane: "control",
  moves: ["read extensions", "read code"],
  method: "GET",
  path: "/extensions/{id_or_name}",
  summary: "Download an extension.",
  params: idOrName,
  responses: { 200: bytes("application/octet-stream") },
  errors: [401, 404, 500],
});

/** Fetches an extension from the Chrome Web Store as a ZIP archive. Nothing is stored: upload the archive to use it in sessions. */
export const downloadExtensionFromChromeStore = defineEndpoint({
  operationId: "extensions.downloadFromChromeStore",
  area,
  plane: "control",
  moves: ["read extensions"],
  method: "GET",
  path: "/extensions/from_chrome_store",
  summary: "Download an extension from the Chrome Web Store.",
  query: ChromeStoreExtension,
  responses: { 200: bytes("application/octet-stream") },
  errors: [400, 401, 403, 404, 500, 502],
});

/** Running sessions keep it. */
export const deleteExtension = defineEndpoint({
  operationId: "extensions.delete",
  area,
  plane: "control",
  moves: ["write extensions"],
  method: "DELETE",
  path: "/extensions/{id_or_name}",
  summary: "Delete an extension.",
  params: idOrName,
  responses: { 204: empty },
  errors: [400, 401, 404, 500],
});
