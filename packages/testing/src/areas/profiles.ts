import type { OperationsOf } from "@shoal/contract";
import {
  profileNameTaken,
  profileNotFound,
  profileUsedByBrowser,
  profileUsedByConnection,
} from "@shoal/contract/refusals";
import { ServiceError, type Handlers } from "@shoal/router";
import type { Access } from "../state/access.ts";
import { createId } from "@shoal/primitives";
import { locationOf } from "../sessions/browser-options.ts";
import { toProfile } from "../sessions/profile-answer.ts";
import { folded, holds, pageOf } from "../state/listing.ts";
import type { ProfileRow, Store } from "../state/store.ts";

/** @throws {ServiceError} 404. */
export function findProfile(store: Store, projectId: string, idOrName: string): ProfileRow {
  const rows = store.profiles.filter((profile) => profile.projectId === projectId);
  const found = rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName);
  if (found === undefined) throw ServiceError.of(profileNotFound(idOrName));
  return found;
}

export function profileHandlers(
  store: Store,
): Handlers<Omit<OperationsOf<"profiles">, "cloneProfile" | "downloadProfile" | "rollbackProfile">, Access> {
  const ofProject = (projectId: string) => store.profiles.filter((profile) => profile.projectId === projectId);
  const existing = (projectId: string, idOrName: string) => findProfile(store, projectId, idOrName);

  function refuseTaken(projectId: string, name: string, but?: ProfileRow): void {
    if (ofProject(projectId).some((profile) => profile !== but && profile.name === name))
      throw ServiceError.of(profileNameTaken(name));
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
        webBotAuth: body.web_bot_auth,
        location: locationOf(body.location),
        conditions: body.conditions,
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
      if (body.name !== undefined) {
        refuseTaken(context.projectId, body.name, row);
        row.name = body.name;
      }
      if (body.conditions !== undefined) row.conditions = body.conditions ?? undefined;
      if (body.location !== undefined) row.location = locationOf(body.location ?? undefined);
      if (body.web_bot_auth !== undefined) row.webBotAuth = body.web_bot_auth ?? undefined;
      row.updatedAt = new Date().toISOString();
      return toProfile(row);
    },
    deleteProfile: ({ params, context }) => {
      const row = existing(context.projectId, params.id_or_name);
      const user = store.sessions.find(({ ended, profile }) => profile?.row === row && ended === undefined);
      if (user !== undefined) throw ServiceError.of(profileUsedByBrowser(params.id_or_name, user.id));
      const connection = store.connections.find(({ profile }) => profile === row);
      if (connection !== undefined) throw ServiceError.of(profileUsedByConnection(params.id_or_name, connection.id));
      store.profiles.splice(store.profiles.indexOf(row), 1);
    },
  };
}
