import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../state/access.ts";

export function authContextHandlers(): Handlers<OperationsOf<"auth.context">, Access> {
  return {
    getAuthContext: ({ context: { key, namedProjectId } }) => ({
      authentication: { method: "api_key", source: "api_key", credential_id: key.id },
      authorization: {
        credential_scope: { project_id: key.projectId },
        effective_scope: { project_id: namedProjectId ?? key.projectId },
      },
      organization: { id: "fake" },
      principal: { id: key.id, type: "api_key" },
    }),
  };
}
