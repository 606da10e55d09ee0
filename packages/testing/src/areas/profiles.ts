import type * as endpoints from "@shoal/contract";
import { ServiceError, type Handlers } from "@shoal/router";
import type { Profile } from "@shoal/schemas";
import type { Access } from "../access.ts";
import { createId } from "../ids.ts";
import { folded, holds, pageOf } from "../listing.ts";
import type { ProfileRow, Store } from "../store.ts";

type ProfileEndpoints = Pick<typeof endpoints, "createProfile" | "listProfiles" | "getProfile" | "updateProfile" | "deleteProfile">;

/** A profile as it is shown. */
export function toProfile({ createdAt, id, lastUsedAt, name, updatedAt }: ProfileRow): Profile {
  return {
    id,
    name,
    created_at: createdAt,
    ...(updatedAt !== undefined && { updated_at: updatedAt }),
    ...(lastUsedAt !== undefined && { last_used_at: lastUsedAt }),
  };
}

export function profileNotFound(idOrName: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Profile ${idOrName} was not found in this project. List the profiles with profiles.list, or create it with profiles.create.`,
  );
}

/** By id, or else by name. @throws {ServiceError} 404. */
export function findProfile(store: Store, projectId: string, idOrName: string): ProfileRow {
  const rows = store.profiles.filter((profile) => profile.projectId === projectId);
  const found = rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName);
  if (found === undefined) throw profileNotFound(idOrName);
  return found;
}

/** Handlers of the profiles, in memory. */
export function profileHandlers(store: Store): Handlers<ProfileEndpoints, Access> {
  const ofProject = (projectId: string) => store.profiles.filter((profile) => profile.projectId === projectId);
  const existing = (projectId: string, idOrName: string) => findProfile(store, projectId, idOrName);

  function refuseTaken(projectId: string, name: string, but?: ProfileRow): void {
    if (!ofProject(projectId).some((profile) => profile !== but && profile.name === name)) return;
    throw new ServiceError(
      409,
      "name_taken",
      `A profile named ${JSON.stringify(name)} exists in this project already. Choose another name, or use that profile.`,
    );
  }

  return {
    createProfile: ({ body, context: { projectId } }) => {
      const { name } = body;
      if (name !== undefined) refuseTaken(projectId, name);
      const row: ProfileRow = {
        id: createId(),
        projectId,
        name: name ?? null,
        createdAt: new Date().toISOString(),
        updatedAt: undefined,
        lastUsedAt: undefined,
      };
      store.profiles.push(row);
      return toProfile(row);
    },
    listProfiles: ({ query: { query: part, name, ...window }, context }) => {
      const found = ofProject(context.projectId)
        .filter(
          (profile) =>
            (part === undefined || holds(profile.name, part) || holds(profile.id, part)) &&
            (name === undefined || (profile.name !== null && folded(profile.name) === folded(name))),
        )
        .reverse();
      return pageOf(found, window, toProfile);
    },
    getProfile: ({ params, context }) => toProfile(existing(context.projectId, params.id_or_name)),
    updateProfile: ({ params, body, context }) => {
      const row = existing(context.projectId, params.id_or_name);
      refuseTaken(context.projectId, body.name, row);
      row.name = body.name;
      row.updatedAt = new Date().toISOString();
      return toProfile(row);
    },
    deleteProfile: ({ params, context }) => {
      const row = existing(context.projectId, params.id_or_name);
      const user = store.sessions.find(({ ended, profile }) => profile?.row === row && ended === undefined);
      if (user !== undefined)
        throw new ServiceError(
          409,
          "profile_in_use",
          `Browser ${user.id} runs with profile ${params.id_or_name}. Delete the profile when it has ended, or end it first.`,
        );
      store.profiles.splice(store.profiles.indexOf(row), 1);
    },
  };
}
