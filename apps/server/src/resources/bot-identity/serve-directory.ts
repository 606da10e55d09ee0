import type { FastifyInstance } from "fastify";
import { HTTP_MESSAGE_SIGNATURES_DIRECTORY, MediaType } from "web-bot-auth";
import type { BotIdentities } from "./bot-identities.ts";

/**
 * The public keys of all projects, as Web Bot Auth requires.
 * @param parts.ownUrl - of the service. Not by a header of the request: the keys would sign a name that the caller chose.
 */
export function serveBotDirectory(
  app: FastifyInstance,
  { botIdentities, ownUrl }: { readonly botIdentities: BotIdentities; readonly ownUrl: () => string },
): void {
  app.get(HTTP_MESSAGE_SIGNATURES_DIRECTORY, async (_request, reply) => {
    const { headers, keys } = await botIdentities.directory(new URL(ownUrl()).origin);
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
