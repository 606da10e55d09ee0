import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export function serveOpenApi(app: FastifyInstance): void {
  let bytes: Buffer | undefined;
  app.get("/openapi.json", (_request, reply) => {
    // Minified, which saves 200 kB.
    bytes ??= Buffer.from(
      JSON.stringify(
        JSON.parse(readFileSync(createRequire(import.meta.url).resolve("@shoal/contract/openapi.json"), "utf8")),
      ),
    );
    void reply.header("content-type", "application/json").header("cache-control", "public, max-age=300").send(bytes);
  });
}
