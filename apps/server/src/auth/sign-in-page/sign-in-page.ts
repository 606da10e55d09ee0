import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { packageFile } from "../../config/package-file.ts";
import { type HtmlPage, htmlPage, sendPage } from "../../http/pages/html-page.ts";
import { signInPath } from "../sign-in-links/link-codes.ts";

/** Written by build.mjs. */
const pagePath = packageFile("dist/pages/sign-in.html");

/**
 * Serves the page of `hosted_url`. It is the same document for every login: its script exchanges the code.
 * @param frameAncestors - sites that may embed the page; empty = none.
 */
export function serveSignInPage(app: FastifyInstance, frameAncestors: readonly string[]): void {
  let loaded: HtmlPage | undefined;
  app.route({
    method: ["GET", "HEAD"],
    url: `${signInPath}/:id`,
    exposeHeadRoute: false,
    handler(_request, reply) {
      loaded ??= htmlPage(readFileSync(pagePath, "utf8"), { frames: true });
      sendPage(reply, 200, loaded, frameAncestors);
    },
  });
}
