import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import { sessionTokenIn } from "../instance-plane/session-token.ts";
import type { ReplicaForwarding } from "../replicas/replica-forwarding.ts";
import { StartError } from "../start-error.ts";
import type { RequestOrigins } from "./request-origin.ts";

/** What tells the origin of session content from the service's own. */
export interface ContentOriginParts {
  /** `https://content.shoal.example` */
  readonly contentUrl: string;
  readonly origins: Pick<RequestOrigins, "hostOf" | "pathInside">;
  readonly replicas: Pick<ReplicaForwarding, "isForwarded">;
}

/** @throws {StartError} when both addresses have one host: they would share cookies and, on one port, an origin. */
export function refuseSharedHost({ content_url, public_url }: Pick<Config, "content_url" | "public_url">): void {
  if (content_url === undefined || public_url === undefined || new URL(content_url).hostname !== new URL(public_url).hostname) return;
  throw new StartError("content_url and public_url have the same host.", {
    hint: "Give session content a host of its own, best on another domain: content_url: https://content.shoal.example.",
    exitCode: 2,
  });
}

/** Whether a request opens session content with a token in its address, as a browser can. */
function isSessionContent(url: string): boolean {
  return /^\/browsers\/[^/?]+\//.test(url) && sessionTokenIn(url) !== undefined;
}

/**
 * Keeps session content and the service's own pages on two origins: an address with a session's token is served at `contentUrl` alone, and nothing
 * else is. WebSockets are served at both: no page has the rights of their origin.
 */
export function separateContent(app: FastifyInstance, { contentUrl, origins, replicas }: ContentOriginParts): void {
  const contentHost = new URL(contentUrl).host;
  app.addHook("onRequest", ({ raw }, _reply, done) => {
    // Another server has checked the host that the client asked.
    const isForwarded = replicas.isForwarded(raw);
    const isContentHost = origins.hostOf(raw) === contentHost;
    if (isForwarded || isContentHost === isSessionContent(origins.pathInside(raw))) done();
    else if (isContentHost)
      done(new ServiceError(404, "not_found", `${contentUrl} serves session content only: addresses below base_url, with the session's token.`));
    else done(new ServiceError(404, "not_found", `Session content is served at ${contentUrl}. Take base_url as browsers.get returns it.`));
  });
}
