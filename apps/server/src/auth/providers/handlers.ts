import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { CredentialProviders } from "./credential-providers.ts";

export function credentialProviderHandlers(
  providers: CredentialProviders,
): Handlers<OperationsOf<"credentialProviders">, Access> {
  return {
    createCredentialProvider: ({ body, context }) => providers.create(context.projectId, body),
    listCredentialProviders: ({ query, context }) => providers.list(context.projectId, query),
    getCredentialProvider: ({ params, context }) => providers.get(context.projectId, params.id),
    updateCredentialProvider: ({ params, body, context }) => providers.update(context.projectId, params.id, body),
    deleteCredentialProvider: ({ params, context }) => providers.delete(context.projectId, params.id),
    testCredentialProvider: ({ params, context, signal }) => providers.test(context.projectId, params.id, signal),
    listCredentialProviderItems: ({ params, context, signal }) => providers.items(context.projectId, params.id, signal),
  };
}
