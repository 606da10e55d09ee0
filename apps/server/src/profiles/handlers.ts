import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import type { Profiles } from "./profiles.ts";

type ProfileEndpoints = Pick<typeof endpoints, "createProfile" | "listProfiles" | "getProfile" | "updateProfile" | "deleteProfile">;

export function profileHandlers(profiles: Profiles): Handlers<ProfileEndpoints, Access> {
  return {
    createProfile: ({ body, context }) => profiles.create(context.projectId, body.name),
    listProfiles: ({ query, context }) => profiles.list(context.projectId, query),
    getProfile: ({ params, context }) => profiles.get(context.projectId, params.id_or_name),
    updateProfile: ({ params, body, context }) => profiles.rename(context.projectId, params.id_or_name, body.name),
    deleteProfile: ({ params, context }) => profiles.delete(context.projectId, params.id_or_name),
  };
}
