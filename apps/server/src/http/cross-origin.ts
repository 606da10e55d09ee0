import { contract, type Endpoint } from "@shoal/contract";
import type { FastifyInstance } from "fastify";

const anyOrigin = { "access-control-allow-origin": "*", "access-control-expose-headers": "retry-after, x-request-id" };
/** Headers that clients of this service send. */
const requestHeaders = "accept, authorization, content-type, idempotency-key, last-event-id, x-shoal-stream";
const preflightSeconds = 600;

/**
 * Lets pages of any origin call the operations of sign-in pages. They have a token instead of cookies, so their origin
 * proves nothing. Call it before the routes are mounted.
 */
export function allowSignInPages(app: FastifyInstance): void {
  const methodsOf = new Map<string, string[]>();
  for (const { handoff, method, path } of Object.values<Endpoint>(contract)) {
    if (handoff === undefined) continue;
    const url = path.replaceAll(/\{(\w+)\}/g, ":$1");
    methodsOf.set(url, [...(methodsOf.get(url) ?? []), method]);
  }
  app.addHook("onRequest", ({ method, routeOptions }, reply, done) => {
    if (methodsOf.get(routeOptions.url ?? "")?.includes(method) === true) void reply.headers(anyOrigin);
    done();
  });
  for (const [url, methods] of methodsOf)
    app.options(url, (_request, reply) => {
      void reply
        .code(204)
        .headers({
          ...anyOrigin,
          "access-control-allow-methods": methods.join(", "),
          "access-control-allow-headers": requestHeaders,
          "access-control-max-age": String(preflightSeconds),
        })
        .send();
    });
}
