import type * as endpoints from "@shoal/contract";
import { type Handlers, ServiceError, withStatus } from "@shoal/router";
import { createZstdDecompress } from "node:zlib";
import { pipeline } from "node:stream";
import type { Access } from "../auth/access.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { ProfileStates } from "./profile-states.ts";
import type { Profiles } from "./profiles.ts";
import { fromStorageState, toStorageState } from "./storage-state.ts";

type ProfileEndpoints = Pick<
  typeof endpoints,
  | "createProfile"
  | "listProfiles"
  | "getProfile"
  | "updateProfile"
  | "deleteProfile"
  | "downloadProfile"
  | "listProfileVersions"
  | "rollbackProfile"
  | "cloneProfile"
  | "getStorageState"
  | "importStorageState"
  | "saveBrowserProfile"
>;

function noVersion(profile: string, version: number): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Profile ${profile} has no version ${String(version)}. See profiles.versions.list for those that are kept.`,
  );
}

export function profileHandlers(
  profiles: Profiles,
  states: ProfileStates,
  sessions: Pick<Sessions, "saveProfile">,
): Handlers<ProfileEndpoints, Access> {
  /** What is asked for of a profile that is there. */
  async function refOf(projectId: string, idOrName: string): Promise<{ readonly id: string; readonly project_id: string; readonly name: string }> {
    const { id, name } = await profiles.get(projectId, idOrName);
    return { id, project_id: projectId, name: name ?? id };
  }
  return {
    createProfile: ({ body, context }) => profiles.create(context.projectId, body.name),
    listProfiles: ({ query, context }) => profiles.list(context.projectId, query),
    getProfile: ({ params, context }) => profiles.get(context.projectId, params.id_or_name),
    updateProfile: ({ params, body, context }) => profiles.rename(context.projectId, params.id_or_name, body.name),
    deleteProfile: ({ params, context }) => profiles.delete(context.projectId, params.id_or_name),

    async downloadProfile({ params, query, context }) {
      const profile = await refOf(context.projectId, params.id_or_name);
      const state = await states.open(profile, query.version);
      if (state === undefined && query.version !== undefined) throw noVersion(profile.name, query.version);
      if (state === undefined) return withStatus(202, undefined);
      if (query.format !== "tar") return { stream: state.archive, sizeBytes: state.sizeBytes, fileName: `${profile.name}.tar.zst` };
      const tar = createZstdDecompress();
      // What goes wrong destroys both.
      pipeline(state.archive, tar, () => undefined);
      return { stream: tar, fileName: `${profile.name}.tar` };
    },

    listProfileVersions: async ({ params, query, context }) => states.list((await profiles.get(context.projectId, params.id_or_name)).id, query),

    async rollbackProfile({ params, body, context }) {
      const profile = await refOf(context.projectId, params.id_or_name);
      await states.rollback(profile, body.version);
      return profiles.reread(context.projectId, profile.id);
    },

    cloneProfile: ({ params, body, context }) => profiles.clone(context.projectId, params.id_or_name, body.name),

    async getStorageState({ params, context }) {
      const state = await states.open(await refOf(context.projectId, params.id_or_name));
      return state === undefined ? withStatus(202, undefined) : toStorageState(state.archive);
    },

    async importStorageState({ params, body, context }) {
      const profile = await refOf(context.projectId, params.id_or_name);
      await states.save(profile, { source: "import" }, fromStorageState(body));
      return profiles.get(context.projectId, profile.id);
    },

    async saveBrowserProfile({ params, context }) {
      return profiles.get(context.projectId, await sessions.saveProfile(context.projectId, params.id_or_name));
    },
  };
}
