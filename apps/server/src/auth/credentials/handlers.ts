import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Credentials } from "./credentials.ts";

export function credentialHandlers(credentials: Credentials): Handlers<OperationsOf<"credentials">, Access> {
  return {
    createCredential: ({ body, context }) => credentials.create(context.projectId, body),
    listCredentials: ({ query, context }) => credentials.list(context.projectId, query),
    getCredential: ({ params, context }) => credentials.get(context.projectId, params.id_or_name),
    updateCredential: ({ params, body, context }) => credentials.update(context.projectId, params.id_or_name, body),
    deleteCredential: ({ params, context }) => credentials.delete(context.projectId, params.id_or_name),
    getTotpCode: ({ params, context }) => credentials.totpCode(context.projectId, params.id_or_name),
  };
}
