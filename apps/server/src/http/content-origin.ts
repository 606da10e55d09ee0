import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Config } from "../config/settings.ts";
import { sessionTokenIn } from "./auth/session-path.ts";
import { StartError } from "../config/start-error.ts";
import type { RequestOrigins } from "./request-origin.ts";

export interface ContentOriginParts {
  readonly contentUrl: string;
  readonly origins: Pick<RequestOrigins, "hostOf" | "pathInside">;
  readonly replicas: { isForwarded(request: IncomingMessage): boolean };
}

/** @throws {StartError} if both URLs have the same host, because they would share cookies or an origin. */
export function refuseSharedHost({ content_url, public_url }: Pick<Config, "content_url" | "public_url">): void {
  if (
    content_url === undefined ||
    public_url === undefined ||
    new URL(content_url).hostname !== new URL(public_url).hostname
  )
    return;
  throw new StartError("content_url and public_url have the same host.", {
    hint: "Use a separate host for session content, preferably on another domain: content_url: https://content.shoal.example.",
    exitCode: 2,
  });
}

/** Answers of WebDriver are always JSON, and its clients know one address. */
function isSessionContent(url: string): boolean {
  return /^\/browsers\/[^/?]+\/(?!wd(?:[/?]|$))/.test(url) && sessionTokenIn(url) !== undefined;
}

/**
 * Session content with a token is only at `contentUrl`, and nothing else is there. WebSockets work at both origins,
 * because a page gets no rights of their origin.
 */
export function separateContent(app: FastifyInstance, { contentUrl, origins, replicas }: ContentOriginParts): void {
  const contentHost = new URL(contentUrl).host;
  app.addHook("onRequest", ({ raw }, _reply, done) => {
    // The forwarding server has already checked the client's host.
    const isForwarded = replicas.isForwarded(raw);
    const isContentHost = origins.hostOf(raw) === contentHost;
    if (isForwarded || isContentHost === isSessionContent(origins.pathInside(raw))) done();
    else if (isContentHost)
      done(
        new ServiceError(
          404,
          "not_found",
          `${contentUrl} serves session content only: addresses below base_url, with the session's token.`,
        ),
      );
    else
      done(
        new ServiceError(404, "not_found", `Session content is served at ${contentUrl}.`, {
          hint: "Take base_url as browsers.get returns it.",
        }),
      );
  });
}
