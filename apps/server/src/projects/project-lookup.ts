import type { Database } from "@shoal/database";
import { createReadCache } from "../read-cache.ts";

/** A project that was not deleted, as requests need it. */
export interface ProjectEntry {
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "archived";
}

/** Finds projects, from memory where it can. */
export interface ProjectLookup {
  /** The one that requests act in which name none, with a key of the whole organisation. It is never archived. */
  standard(): ProjectEntry | Promise<ProjectEntry>;
  /** By id, or else by name. */
  find(idOrName: string): ProjectEntry | Promise<ProjectEntry | undefined>;
  forget(id: string): void;
  forgetAll(): void;
}

/** No project is named so. */
const standardLookup = "";

/** @param isLive - whether changes of other servers are being heard. */
export function createProjectLookup({ isJoined: isPrivate, query }: Database, isLive: () => boolean): ProjectLookup {
  const cache = createReadCache<ProjectEntry>({
    max: 1000,
    isLive,
    isPrivate,
    idOf: (project) => project.id,
    async load(lookup) {
      const rows = await query
        .selectFrom("projects")
        .select(["id", "name", "status"])
        .where("deleted_at", "is", null)
        .where((where) =>
          lookup === standardLookup ? where("is_default", "=", true) : where.or([where("id", "=", lookup), where("name", "=", lookup)]),
        )
        .execute();
      return rows.find((project) => project.id === lookup) ?? rows[0];
    },
  });

  function present(project: ProjectEntry | undefined): ProjectEntry {
    if (project === undefined) throw new Error("The database holds no default project.");
    return project;
  }

  return {
    standard() {
      const found = cache.get(standardLookup);
      return found instanceof Promise ? found.then(present) : found;
    },
    find: (idOrName) => cache.get(idOrName),
    forget: (id) => {
      cache.forget(id);
    },
    forgetAll: () => {
      cache.forgetAll();
    },
  };
}
