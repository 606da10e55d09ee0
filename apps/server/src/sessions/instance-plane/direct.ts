import type { SessionConnection } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  answerAddressDocument,
  answerHeadersOfPort,
  isAddressDocument,
  type SessionSockets,
} from "./debugging-port.ts";
import { answerHeadersOfSite, siteRequestHeadersFor } from "./forwarded-headers.ts";
import { forward, type InstancePlane } from "./forward.ts";
import { sessionTokenIn } from "../../http/auth/session-path.ts";

export interface DirectPlane {
  /** As {@link InstancePlane.instanceFor}. */
  instanceFor(
    request: FastifyRequest,
    way: { readonly connection: SessionConnection },
  ): ReturnType<InstancePlane["instanceFor"]>;
  socketsOf(request: FastifyRequest, sessionId: string): Promise<SessionSockets>;
}

/**
 * Paths of a `base_url` that are not operations: requests through the browser, and the debugging port for CDP tools.
 */
export function serveDirect(app: FastifyInstance, plane: DirectPlane): void {
  app.route<{ Params: { id: string } }>({
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    url: "/browsers/:id/curl/raw",
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { id } = request.params;
      try {
        const instance = await plane.instanceFor(request, { connection: "browsers.curl.raw" });
        if (instance === undefined) return;
        // If the URL has the token, `authorization` and `cookie` are for the site.
        const isForSite = sessionTokenIn(request.raw.url ?? "") !== undefined;
        const headers = { request: siteRequestHeadersFor(request.headers, isForSite), answer: answerHeadersOfSite };
        await forward(instance, id, { request, reply }, headers);
      } catch (error) {
        // Distinguishes a refusal from an answer of the site.
        void reply.header("x-shoal-error", ServiceError.isInstance(error) ? error.code : "internal_error");
        throw error;
      }
    },
  });
  for (const url of ["/browsers/:id/json", "/browsers/:id/json/*"]) {
    app.route<{ Params: { id: string } }>({
      // Chromium answers every method.
      method: ["GET", "POST", "PUT"],
      url,
      exposeHeadRoute: false,
      async handler(request, reply) {
        const { id } = request.params;
        const instance = await plane.instanceFor(request, { connection: "browsers.cdp.connect" });
        if (instance === undefined) return;
        if (!isAddressDocument(request.raw.url ?? "")) {
          await forward(instance, id, { request, reply }, { request: {}, answer: answerHeadersOfPort });
          return;
        }
        await answerAddressDocument(instance, { request, reply }, await plane.socketsOf(request, id));
      },
    });
  }
}
