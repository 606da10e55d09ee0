import type { OperationsOf } from "@shoal/contract";
import { createProfileDecompressor } from "@shoal/instance";
import { type Handlers, serializedJson, ServiceError, withStatus } from "@shoal/router";
import type { StorageState } from "@shoal/schemas";
import { pipeline } from "node:stream";
import type { Access } from "../../http/auth/access.ts";
import type { ProfileStates } from "./profile-states.ts";
import type { Profiles } from "./profiles.ts";
import { ParseFailure, type ParsePool } from "../../storage/parsing/parse-pool.ts";
import { fromStorageState } from "./storage-state.ts";

function noVersion(profile: string, version: number): ServiceError {
  return new ServiceError(404, "not_found", `Profile ${profile} has no version ${String(version)}.`, {
    hint: "List the kept versions with profiles.versions.list.",
  });
}

/** A sandbox produced the state: report the error as invalid data, not as a server error. */
function unreadable(profile: string, cause: ParseFailure): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `The saved state of profile ${profile} cannot be read as cookies and local storage: ${cause.message} Return to an earlier version with profiles.rollback, or download the archive with profiles.download.`,
    { cause },
  );
}

export interface ProfileSaver {
  saveProfile(projectId: string, idOrName: string): Promise<string>;
}

export function profileHandlers(
  profiles: Profiles,
  states: ProfileStates,
  sessions: ProfileSaver,
  parsing: Pick<ParsePool, "run">,
): Handlers<
  OperationsOf<"profiles" | "profiles.storageState" | "profiles.versions"> &
    Pick<OperationsOf<"browsers">, "saveBrowserProfile">,
  Access
> {
  async function refOf(
    projectId: string,
    idOrName: string,
  ): Promise<{ readonly id: string; readonly project_id: string; readonly name: string }> {
    const { id, name } = await profiles.get(projectId, idOrName);
    return { id, project_id: projectId, name: name ?? id };
  }
  return {
    createProfile: ({ body, context }) => profiles.create(context.projectId, body),
    listProfiles: ({ query, context }) => profiles.list(context.projectId, { ...query, visible: context.visible }),
    getProfile: ({ params, context }) => profiles.get(context.projectId, params.id_or_name),
    updateProfile: ({ params, body, context }) => profiles.update(context.projectId, params.id_or_name, body),
    deleteProfile: ({ params, context }) => profiles.delete(context.projectId, params.id_or_name),

    async downloadProfile({ params, query, context }) {
      const profile = await refOf(context.projectId, params.id_or_name);
      const state = await states.open(profile, query.version);
      if (state === undefined && query.version !== undefined) throw noVersion(profile.name, query.version);
      if (state === undefined) return withStatus(202, undefined);
      if (query.format !== "tar")
        return { stream: state.archive, sizeBytes: state.sizeBytes, fileName: `${profile.name}.tar.zst` };
      const tar = createProfileDecompressor();
      // `pipeline` destroys both streams on an error.
      pipeline(state.archive, tar, () => undefined);
      return { stream: tar, fileName: `${profile.name}.tar` };
    },

    listProfileVersions: async ({ params, query, context }) =>
      states.list((await profiles.get(context.projectId, params.id_or_name)).id, query),

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
