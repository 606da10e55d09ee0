import type { Handlers } from "@shoal/router";
import { defineDialect, type DialectCaller, type DialectParts, type MissingOperation } from "../kit/dialect.ts";
import { useComputer } from "./computer.ts";
import { contextOf } from "./context.ts";
import * as contract from "./contract.ts";
import { deleteFile, deleteFiles, listFiles, readFile, uploadFile, zipFiles } from "./files.ts";
import { pdf, scrape, screenshot } from "./pages.ts";
import {
  createSession,
  getSession,
  listSessions,
  liveDetails,
  releaseAll,
  releaseSession,
  sessionOf,
} from "./sessions.ts";

const missing: readonly MissingOperation[] = [
  { path: "/v1/sessions/:id/captchas", reason: "This service solves no captchas; a person can, in the live view." },
  { path: "/v1/sessions/debug", reason: "Open sessionViewerUrl of a session." },
  { path: "/v1/files", reason: "Files belong to a session here; use /v1/sessions/{id}/files." },
  { path: "/v1/profiles", reason: "Profiles have another format here; use /profiles, or persistProfile of a session." },
  { path: "/v1/extensions", reason: "Upload extensions with POST /extensions, and name them in extensionIds." },
  { path: "/v1/credentials", reason: "This service stores credentials by domain; use POST /credentials." },
  { path: "/v1/search", reason: "This service has no search; open a search engine in a session." },
];

function handlers(parts: DialectParts): Handlers<typeof contract, DialectCaller> {
  return {
    createSession: ({ body, context: caller, signal }) => createSession(parts, body, { caller, signal }),
    listSessions: ({ context, query }) => listSessions(context, query),
    releaseSessions: ({ context }) => releaseAll(context),
    getSession: ({ context, params }) => getSession(context, params.id),
    releaseSession: ({ context, params }) => releaseSession(context, params.id),
    getLiveDetails: ({ context, params }) => liveDetails(parts, context, params.id),
    async getContext({ context: { calls }, params, signal }) {
      return contextOf({ calls, sessionId: (await sessionOf(calls, params.id)).session_id, signal });
    },
    async listEvents({ context, params }) {
      await sessionOf(context.calls, params.id);
      return [];
    },
    useComputer: ({ body, context, params, signal }) => useComputer(context, params.id, { body, signal }),
    uploadFile: ({ body, context, params, signal }) => uploadFile(context, params.id, { parts: body, signal }),
    listFiles: ({ context, params, signal }) => listFiles(context, params.id, signal),
    deleteFiles: ({ context, params, signal }) => deleteFiles(context, params.id, signal),
    zipFiles: ({ context, params, signal }) => zipFiles(context, params.id, signal),
    readFile: ({ context, params, signal }) => readFile(context, params, signal),
    deleteFile: ({ context, params, signal }) => deleteFile(context, params, signal),
    scrape: (call) => scrape(parts, call),
    takeScreenshot: (call) => screenshot(parts, call),
    printPdf: (call) => pdf(parts, call),
  };
}

export const steel = defineDialect({
  name: "steel",
  title: "Steel",
  keyHeader: "steel-api-key",
  rootPath: "/v1/",
  projectHeader: "x-steel-project",
  foreignSecrets: [],
  contract,
  sessionPath: "/v1/sessions/{id}",
  // Clients leave the slashes of a path as they are.
  rewritePath: (path) =>
    path.replace(
      /^(\/v1\/sessions\/[^/?]+\/files\/)([^?]+)/,
      (_whole, start: string, name: string) => start + name.replaceAll("/", "%2F"),
    ),
  files: {},
  handlers,
  missing,
  errorBody: ({ message }) => ({ success: false, message }),
});
