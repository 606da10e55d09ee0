import type { FastifyInstance } from "fastify";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { BotIdentities } from "./bot-identities.ts";
import { botIdentityHandlers } from "./handlers.ts";
import { serveBotDirectory } from "./serve-directory.ts";

/** @param localUrl - where this server listens. */
export function botIdentityFeature({ config, database, envelopes }: Host, localUrl: () => string | undefined) {
  const botIdentities = new BotIdentities({ database, envelopes, publicUrl: config.public_url });
  const ownUrl = () => config.public_url ?? localUrl() ?? "http://127.0.0.1";
  return {
    provides: botIdentities,
    handlers: botIdentityHandlers(botIdentities),
    serve(app: FastifyInstance) {
      serveBotDirectory(app, { botIdentities, ownUrl });
    },
  } satisfies Feature;
}
