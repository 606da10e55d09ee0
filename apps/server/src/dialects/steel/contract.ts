import { bytes, defineEndpoint, empty, json, multipart, optionalJson } from "@shoal/contract";
import { lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import * as shapes from "./shapes.ts";

const idText = () => z.string().check(z.minLength(1), z.maxLength(255));
const id = lazyObject(() => ({ id: idText() }));
const file = lazyObject(() => ({ id: idText(), path: z.string().check(z.minLength(1), z.maxLength(1200)) }));
const common = { plane: "control", errors: [400, 401, 403, 404, 409, 429, 500, 501, 503] } as const;
const sessions = { ...common, area: "Sessions" } as const;
const files = { ...common, area: "Files" } as const;
const pages = {
  ...common,
  area: "Pages",
  method: "POST",
  idempotency: { repeats: "It renders the page again." },
} as const;

export const createSession = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.create",
  method: "POST",
  path: "/v1/sessions",
  summary: "Start a session.",
  body: optionalJson(shapes.CreateSession),
  responses: { 201: json(shapes.Session) },
});
export const listSessions = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.list",
  method: "GET",
  path: "/v1/sessions",
  summary: "List sessions, newest first.",
  query: shapes.ListSessions,
  responses: { 200: json(shapes.Sessions) },
});
export const releaseSessions = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.releaseAll",
  method: "POST",
  path: "/v1/sessions/release",
  summary: "End the running sessions of this interface.",
  body: optionalJson(shapes.Nothing),
  responses: { 200: json(shapes.Done) },
});
export const getSession = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.get",
  method: "GET",
  path: "/v1/sessions/{id}",
  summary: "Get a session, running or ended.",
  params: id,
  responses: { 200: json(shapes.Session) },
});
export const releaseSession = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.release",
  method: "POST",
  path: "/v1/sessions/{id}/release",
  summary: "End a session.",
  params: id,
  body: optionalJson(shapes.Nothing),
  responses: { 200: json(shapes.Done) },
});
export const getLiveDetails = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.liveDetails",
  method: "GET",
  path: "/v1/sessions/{id}/live-details",
  summary: "Get addresses of the live view, and the open pages.",
  params: id,
  responses: { 200: json(shapes.LiveDetails) },
});
export const getContext = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.context",
  method: "GET",
  path: "/v1/sessions/{id}/context",
  summary: "Get the cookies, and the storage of open pages.",
  params: id,
  responses: { 200: json(shapes.SessionContext) },
});
export const listEvents = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.events",
  method: "GET",
  path: "/v1/sessions/{id}/events",
  summary: "An empty list: this service records films instead.",
  params: id,
  query: lazyObject(() => ({
    compressed: z.optional(z.boolean()),
    limit: z.optional(z.int()),
    pointer: z.optional(z.string()),
  })),
  responses: { 200: json(z.array(z.unknown())) },
});
export const useComputer = defineEndpoint({
  ...sessions,
  operationId: "steel.sessions.computer",
  method: "POST",
  path: "/v1/sessions/{id}/computer",
  summary: "Use the mouse and the keyboard, and take pictures.",
  params: id,
  body: json(shapes.Computer),
  idempotency: { repeats: "The action is done again." },
  responses: { 200: json(shapes.ComputerResult) },
});

export const uploadFile = defineEndpoint({
  ...files,
  operationId: "steel.sessions.files.upload",
  method: "POST",
  path: "/v1/sessions/{id}/files",
  summary: "Upload a file into a session.",
  params: id,
  body: multipart(shapes.UploadFile),
  idempotency: { repeats: "The file is a stream; a repetition writes the same one." },
  responses: { 200: json(shapes.StoredFile) },
});
export const listFiles = defineEndpoint({
  ...files,
  operationId: "steel.sessions.files.list",
  method: "GET",
  path: "/v1/sessions/{id}/files",
  summary: "List uploaded files, newest first.",
  params: id,
  responses: { 200: json(shapes.StoredFiles) },
});
export const deleteFiles = defineEndpoint({
  ...files,
  operationId: "steel.sessions.files.deleteAll",
  method: "DELETE",
  path: "/v1/sessions/{id}/files",
  summary: "Delete uploaded files.",
  params: id,
  responses: { 204: empty },
});
export const zipFiles = defineEndpoint({
  ...files,
  operationId: "steel.sessions.files.downloadArchive",
  method: "GET",
  path: "/v1/sessions/{id}/files.zip",
  summary: "Download uploaded files as a ZIP archive.",
  params: id,
  responses: { 200: bytes("application/zip") },
});
export const readFile = defineEndpoint({
  ...files,
  operationId: "steel.sessions.files.download",
  method: "GET",
  path: "/v1/sessions/{id}/files/{path}",
  summary: "Download a file. Its path may have slashes.",
  params: file,
  responses: { 200: bytes("application/octet-stream") },
});
export const deleteFile = defineEndpoint({
  ...files,
  operationId: "steel.sessions.files.delete",
  method: "DELETE",
  path: "/v1/sessions/{id}/files/{path}",
  summary: "Delete a file. Its path may have slashes.",
  params: file,
  responses: { 204: empty },
});

export const scrape = defineEndpoint({
  ...pages,
  operationId: "steel.scrape",
  path: "/v1/scrape",
  summary: "The content of a page.",
  body: json(shapes.ScrapeBody),
  responses: { 200: json(shapes.Scraped) },
});
export const takeScreenshot = defineEndpoint({
  ...pages,
  operationId: "steel.screenshot",
  path: "/v1/screenshot",
  summary: "A picture of a page, as a data address.",
  body: json(shapes.ScreenshotBody),
  responses: { 200: json(shapes.FileUrl) },
});
export const printPdf = defineEndpoint({
  ...pages,
  operationId: "steel.pdf",
  path: "/v1/pdf",
  summary: "A page as PDF, as a data address.",
  body: json(shapes.PageBody),
  responses: { 200: json(shapes.FileUrl) },
});
