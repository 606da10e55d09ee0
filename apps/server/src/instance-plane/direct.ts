import { ServiceError } from "@shoal/router";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { forward, type InstancePlane } from "./forward.ts";
import { sessionTokenIn } from "./session-token.ts";

export interface DirectPlane extends InstancePlane {
  /** Where a session's WebSockets are: `ws://127.0.0.1:7777/browsers/{id}`, and the token that opens them. */
  socketsOf(request: FastifyRequest, sessionId: string): Promise<{ readonly url: string; readonly token: string }>;
}

/** Serves what a session's `base_url` has beside the operations: requests through its browser, and what CDP tools ask of a debugging port. */
export function serveDirect(app: FastifyInstance, plane: DirectPlane): void {
  app.route<{ Params: { id: string } }>({
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    url: "/browsers/:id/curl/raw",
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { id } = request.params;
      try {
        const instance = await plane.instanceFor(request, id);
        if (instance === undefined) return;
        // With the token in the address, these fields are for the site. The answer is the site's too, on this service's own address: no page is to run there.
        const isForSite = sessionTokenIn(request.raw.url ?? "") !== undefined;
        await forward(
          instance,
          id,
          { request, reply },
          { keepsCredentials: isForSite, answerHeaders: { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" } },
        );
      } catch (error) {
        // Else a refusal would look like an answer of the site.
        void reply.header("x-shoal-error", ServiceError.isInstance(error) ? error.code : "internal_error");
        throw error;
      }
    },
  });
  for (const url of ["/browsers/:id/json", "/browsers/:id/json/*"]) {
    app.route<{ Params: { id: string } }>({
      method: ["GET", "PUT"],
      url,
      exposeHeadRoute: false,
      async handler(request, reply) {
        const { id } = request.params;
        const instance = await plane.instanceFor(request, id);
        if (instance === undefined) return;
        const sockets = await plane.socketsOf(request, id);
        await forward(instance, id, { request, reply }, { requestHeaders: { "x-shoal-sockets": sockets.url, "x-shoal-token": sockets.token } });
      },
    });
  }
}
