import type { FastifyInstance } from "fastify";
import { HTTP_MESSAGE_SIGNATURES_DIRECTORY, MediaType } from "web-bot-auth";
import type { RequestOrigins } from "../../http/request-origin.ts";
import type { BotIdentities } from "./bot-identities.ts";

/** The public keys of all projects, as Web Bot Auth requires. */
export function serveBotDirectory(
  app: FastifyInstance,
  { botIdentities, origins }: { readonly botIdentities: BotIdentities; readonly origins: RequestOrigins },
): void {
  app.get(HTTP_MESSAGE_SIGNATURES_DIRECTORY, async (request, reply) => {
    const { headers, keys } = await botIdentities.directory(new URL(origins.baseUrlOf(request.raw)).origin);
    return (
      reply
        .headers(headers)
        .header("content-type", MediaType.HTTP_MESSAGE_SIGNATURES_DIRECTORY)
        .header("cache-control", "public, max-age=60")
        // A string would get a charset.
        .send(Buffer.from(JSON.stringify({ keys })))
    );
  });
}
