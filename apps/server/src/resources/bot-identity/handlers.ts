import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { BotIdentities } from "./bot-identities.ts";

export function botIdentityHandlers(identities: BotIdentities): Handlers<OperationsOf<"botIdentity">, Access> {
  return {
    getBotIdentity: ({ context }) => identities.get(context.projectId),
    rotateBotKey: ({ context }) => identities.rotate(context.projectId),
  };
}
