import type * as endpoints from "@shoal/contract";
import { createProfileDecompressor } from "@shoal/instance";
import { type Handlers, serializedJson, ServiceError, withStatus } from "@shoal/router";
import type { StorageState } from "@shoal/schemas";
import { pipeline } from "node:stream";
import type { Access } from "../auth/access.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { ProfileStates } from "./profile-states.ts";
import type { Profiles } from "./profiles.ts";
import { ParseFailure, type ParsePool } from "../parsing/parse-pool.ts";
import { fromStorageState } from "./storage-state.ts";

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

/** A box made the state, so the fault is not the server's. */
function unreadable(profile: string, cause: ParseFailure): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `The saved state of profile ${profile} cannot be read as cookies and local storage: ${cause.message} Return to an earlier one with profiles.rollback, or fetch the archive with profiles.download.`,
    { cause },
  );
}

export function profileHandlers(
  profiles: Profiles,
  states: ProfileStates,
  sessions: Pick<Sessions, "saveProfile">,
  parsing: Pick<ParsePool, "run">,
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
      const tar = createProfileDecompressor();
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

    async getStorageState({ params, context, signal }) {
      const profile = await refOf(context.projectId, params.id_or_name);
      const state = await states.open(profile);
      if (state === undefined) return withStatus(202, undefined);
      try {
        const json = await parsing.run("storageState", undefined, {
          owner: context.projectId,
          signal,
          source: state.archive as AsyncIterable<Buffer>,
        });
        return serializedJson<StorageState>(json);
      } catch (error) {
        throw error instanceof ParseFailure ? unreadable(profile.name, error) : error;
      } finally {
        state.archive.destroy();
      }
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
