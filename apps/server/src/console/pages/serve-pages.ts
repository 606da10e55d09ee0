import { ServiceError } from "@shoal/router";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RequestOrigins } from "../../http/request-origin.ts";
import {
  acceptsCoding,
  cacheControl,
  filePolicy,
  fileProtection,
  pageProtection,
} from "../../http/pages/static-file.ts";
import { type Coding, type ConsoleFile, readConsoleFiles } from "./console-files.ts";
import { baseOf, filledIn, root } from "./page-template.ts";

export interface ConsoleParts {
  readonly origins: Pick<RequestOrigins, "baseUrlOf">;
  /** Separate origin for session content, whose files and terminals the pages request. */
  readonly contentUrl: string | undefined;
}

/** Serves the console's pages. Calls of the pages are in the session and sign-in parts. */
export function serveConsolePages(app: FastifyInstance, { origins, contentUrl }: ConsoleParts): void {
  app.addHook("onRequest", (request, reply, done) => {
    const [path] = request.url.split("?", 1);
    // Programs do not use this address.
    if (path === "/" && isRead(request) && acceptsHtml(request)) toPage(request, reply, { page: `${root}/`, origins });
    else done();
  });
  const route = { method: ["GET", "HEAD"], exposeHeadRoute: false };
  app.route({
    ...route,
    url: root,
    handler: (request, reply) => {
      toPage(request, reply, { page: `${root}/`, origins });
    },
  });
  app.route<{ Params: { "*": string } }>({
    ...route,
    url: `${root}/*`,
    async handler(request, reply) {
      const { files, index } = await readConsoleFiles();
      const path = request.params["*"];
      const file = files.get(path);
      if (file !== undefined) return sendFile(request, reply, { file, isHashed: path.startsWith("assets/") });
      if (path.startsWith("assets/") || !acceptsHtml(request))
        throw new ServiceError(404, "not_found", `The console has no file ${root}/${path}.`, {
          hint: `Open ${root}/ in a browser.`,
        });
      return sendPage(reply, index, { base: baseOf(request.raw, origins), contentUrl });
    },
  });
}

const isRead = ({ method }: FastifyRequest) => method === "GET" || method === "HEAD";

const acceptsHtml = ({ headers }: FastifyRequest) => /\btext\/html\b/i.test(headers.accept ?? "");

function toPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { page, origins }: { readonly page: string; readonly origins: ConsoleParts["origins"] },
): void {
  void reply
    .header("vary", "accept")
    .header("cache-control", "no-store")
    .redirect(origins.baseUrlOf(request.raw) + page, 302);
}

function codingFor(request: FastifyRequest, { compressed }: ConsoleFile): Coding | undefined {
  return (["br", "gzip"] as const).find((coding) => compressed[coding] !== undefined && acceptsCoding(request, coding));
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, isHashed }: { readonly file: ConsoleFile; readonly isHashed: boolean },
): FastifyReply {
  const coding = codingFor(request, file);
  return reply
    .headers({
      ...fileProtection,
      "content-type": file.type,
      "content-security-policy": filePolicy,
      "cache-control": cacheControl(isHashed, "public, max-age=3600"),
      vary: "accept-encoding",
      ...(coding && { "content-encoding": coding }),
    })
    .send(coding === undefined ? file.content : file.compressed[coding]);
}

/** Styles that libraries add at run time need the nonce of the response. */
function policyOf(nonce: string, contentUrl: string | undefined): string {
  const content = contentUrl === undefined ? "" : ` ${new URL(contentUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: blob:${content}`,
    "media-src 'self' blob:",
    `connect-src 'self'${content}${content.replace(/^ http/, " ws")}`,
    "frame-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sendPage(
  reply: FastifyReply,
  page: string,
  { base, contentUrl }: { readonly base: string; readonly contentUrl: string | undefined },
): FastifyReply {
  const { html, nonce } = filledIn(page, base);
  return reply
    .headers({
      ...pageProtection,
      "content-security-policy": policyOf(nonce, contentUrl),
      "cache-control": "no-store",
    })
    .send(html);
}
