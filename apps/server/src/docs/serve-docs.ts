import { ServiceError } from "@shoal/router";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { packageFile } from "../config/package-file.ts";
import { refusalPage, sendPage } from "../http/pages/html-page.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import { acceptsCoding, cacheControl, filePolicy, fileProtection, pageProtection } from "../http/pages/static-file.ts";
import { readSite, type SiteFile, type SiteFiles } from "./site-files.ts";

/** Written by build.mjs. */
const builtSite = packageFile("dist/pages/docs");

/** Address of the documentation, without a trailing slash. */
export const docsRoot = "/docs";

export interface DocsParts {
  readonly origins: Pick<RequestOrigins, "baseUrlOf">;
  /** The site, as apps/docs builds it. */
  readonly folder?: string;
}

/** Serves the documentation: the site for people, and each page as Markdown for programs. It needs no key. */
export function serveDocs(app: FastifyInstance, { origins, folder = builtSite }: DocsParts): void {
  let site: SiteFiles | undefined;
  const route = { method: ["GET", "HEAD"], exposeHeadRoute: false };
  app.route({
    ...route,
    url: docsRoot,
    handler: (request, reply) => redirect(reply, `${origins.baseUrlOf(request.raw)}${docsRoot}/`),
  });
  app.route<{ Params: { "*": string } }>({
    ...route,
    url: `${docsRoot}/*`,
    async handler(request, reply) {
      site ??= await readSite(folder);
      const path = request.params["*"];
      if (site === undefined) return refuseUnbuilt(request, reply);
      const base = `${origins.baseUrlOf(request.raw)}${docsRoot}/`;
      const found = findFile(site, path, request);
      if (found !== undefined) return sendFile(request, reply, { ...found, isHashed: path.startsWith("assets/") });
      if (site.has(`${path}/index.html`)) return redirect(reply, `${base}${path}/`);
      const missing = site.get("404.html");
      if (missing !== undefined && accepts(request, "text/html")) {
        const html = (await missing.plain()).toString("utf8").replaceAll("SHOAL_DOCS/", new URL(base).pathname);
        return reply
          .code(404)
          .headers({ ...pageHeaders, "cache-control": "no-store" })
          .send(html);
      }
      throw new ServiceError(404, "not_found", `The documentation has no page ${docsRoot}/${path}.`, {
        hint: `${docsRoot}/README.md lists all pages.`,
      });
    },
  });
}

const accepts = ({ headers }: FastifyRequest, type: string) => (headers.accept ?? "").toLowerCase().includes(type);

/** Pages have addresses without an extension. Agents that accept Markdown get it there. */
function findFile(site: SiteFiles, path: string, request: FastifyRequest) {
  const isFolder = path === "" || path.endsWith("/");
  const page = site.get(isFolder ? `${path}index.html` : `${path}.html`);
  if (page === undefined) {
    const file = path.endsWith(".html") ? undefined : site.get(path);
    return file && { file, isPage: false };
  }
  const markdown = accepts(request, "text/markdown")
    ? site.get(isFolder ? `${path}README.md` : `${path}.md`)
    : undefined;
  return { file: markdown ?? page, isPage: true };
}

const redirect = (reply: FastifyReply, address: string) =>
  reply.header("cache-control", "no-store").redirect(address, 302);

function refuseUnbuilt(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message = "The documentation is not built in this clone.";
  const hint = "Run npm run docs in the clone, then open this page again.";
  if (!accepts(request, "text/html")) throw new ServiceError(404, "not_found", message, { hint });
  sendPage(reply, 404, refusalPage(message, hint), []);
  return reply;
}

/** Pages load only files of the site, and send requests only to the service. They have no inline scripts and styles. */
const pageHeaders = {
  ...pageProtection,
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

interface Sent {
  readonly file: SiteFile;
  /** Its address also has the page as Markdown. */
  readonly isPage: boolean;
  readonly isHashed: boolean;
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, isHashed, isPage }: Sent,
): Promise<FastifyReply> {
  void reply.headers({
    ...fileProtection,
    "content-security-policy": filePolicy,
    ...(file.type.startsWith("text/html") && pageHeaders),
    "content-type": file.type,
    "cache-control": cacheControl(isHashed, "no-cache"),
    etag: file.etag,
    vary: isPage ? "accept, accept-encoding" : "accept-encoding",
  });
  if (request.headers["if-none-match"]?.includes(file.etag) === true) return reply.code(304).send();
  if (file.brotli === undefined || !acceptsCoding(request, "br")) return reply.send(await file.plain());
  return reply.header("content-encoding", "br").send(file.brotli);
}
