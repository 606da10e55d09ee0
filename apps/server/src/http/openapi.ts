import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RequestOrigins } from "./request-origin.ts";

const require = createRequire(import.meta.url);

/** The texts that describe the service: the OpenAPI document, and a page for agents. */
export function serveDescriptions(app: FastifyInstance, origins: Pick<RequestOrigins, "baseUrlOf">): void {
  let bytes: Buffer | undefined;
  app.get("/openapi.json", (_request, reply) => {
    // Minified, which saves 200 kB.
    bytes ??= Buffer.from(
      JSON.stringify(JSON.parse(readFileSync(require.resolve("@shoal/contract/openapi.json"), "utf8"))),
    );
    void reply.header("content-type", "application/json").header("cache-control", "public, max-age=300").send(bytes);
  });
  let llms: string | undefined;
  app.get("/llms.txt", (request, reply) => {
    llms ??= readFileSync(require.resolve("@shoal/contract/llms.txt"), "utf8");
    void reply
      .header("content-type", "text/plain; charset=utf-8")
      .header("cache-control", "public, max-age=300")
      // Agents do not always resolve relative links.
      .send(llms.replaceAll("](docs/", `](${origins.baseUrlOf(request.raw)}/docs/`));
  });
}
