import type { Endpoint } from "@shoal/contract";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { PageDownload } from "./access.ts";

/** `/console/downloads/KEY/PROJECT/browsers/ID/fs/read_file?path=…`; the project `-` is the caller's own. */
const address = /^\/console\/downloads\/([\w-]{1,100})\/([\w-]{1,100})(\/.*)$/;
const downloads = new WeakMap<IncomingMessage, PageDownload>();

/**
 * A link of the console cannot send headers, so the address of a download contains a key and the project. Returns the path of its
 * operation.
 */
export function pathOfDownload(request: IncomingMessage, path: string): string {
  const [, downloadKey = "", project = "-", operation] = address.exec(path) ?? [];
  if (operation === undefined || (request.method !== "GET" && request.method !== "HEAD")) return path;
  if (project !== "-") request.headers["x-shoal-project"] = project;
  downloads.set(request, { downloadKey, path: `/${project}${operation}` });
  return operation;
}

/** For a link that may use the cookie of the console: the answer is a file, and the browser saves it. */
export function pageDownloadOf(request: IncomingMessage, { method, responses }: Endpoint): PageDownload | undefined {
  const isFile = method === "GET" && Object.values(responses).some(({ kind }) => kind === "bytes");
  return isFile ? downloads.get(request) : undefined;
}

/** The link names the file. Its bytes are untrusted, and another download may find them changed. */
const headers: OutgoingHttpHeaders = {
  "cache-control": "no-store",
  "content-disposition": "attachment",
  "content-security-policy": "sandbox",
  "x-content-type-options": "nosniff",
};

/** Replace the headers of an instance. `undefined` for other requests. */
export function downloadHeadersOf(request: IncomingMessage): OutgoingHttpHeaders | undefined {
  return downloads.has(request) ? headers : undefined;
}

/** Makes browsers save the answers of downloads. Call it before the routes are mounted. */
export function servePageDownloads(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw }, reply, done) => {
    if (downloads.has(raw)) void reply.headers(headers);
    done();
  });
}
