import { BrowserDownload, Id, lazyObject, ListBrowserDownloads, WaitForDownload } from "@shoal/schemas";
import { bytes, defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** Downloads of a session by pages and clients, with any download settings of the clients. */
const area = "Browser Downloads";
const idAndDownload = lazyObject(() => ({
  ...sessionIdField,
  /** The download's id, from `browsers.downloads.list`. */
  download_id: Id,
}));

/** Newest first. A session lists its latest 1000 finished downloads. After its end, the service lists the downloads that it kept (`download_retention_hours`). */
export const listBrowserDownloads = defineEndpoint({
  operationId: "browsers.downloads.list",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/downloads",
  summary: "List downloads.",
  params: sessionId,
  query: ListBrowserDownloads,
  responses: { 200: page(BrowserDownload) },
  errors: [400, 401, 403, 404, 500],
});

/** 204 without a body means timeout: try again. Pass the last `download_id` as `after`, and no download is missed. */
export const waitForDownload = defineEndpoint({
  operationId: "browsers.downloads.wait",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/downloads/wait",
  summary: "Wait for a finished download.",
  params: sessionId,
  body: optionalJson(WaitForDownload),
  responses: { 200: json(BrowserDownload), 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Also while it runs. */
export const getBrowserDownload = defineEndpoint({
  operationId: "browsers.downloads.get",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/downloads/{download_id}",
  summary: "Get a download.",
  params: idAndDownload,
  responses: { 200: json(BrowserDownload) },
  errors: [401, 403, 404, 500],
});

/** 404 without a complete file, or if the session has moved or deleted it. */
export const readBrowserDownload = defineEndpoint({
  operationId: "browsers.downloads.read",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read page_content", "read files"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/downloads/{download_id}/content",
  summary: "Read the file of a download.",
  params: idAndDownload,
  responses: { 200: bytes("application/octet-stream") },
  errors: [401, 403, 404, 500],
});
