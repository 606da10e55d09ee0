import type { NetworkRuleLists } from "@shoal/contract/network";
import type { Database } from "@shoal/database";
import { createReadCache } from "../../storage/read-cache.ts";
import { isStorable } from "../paging.ts";

export interface ProjectEntry {
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "archived";
  readonly network: NetworkRuleLists | null;
  readonly default_telemetry: readonly string[] | null;
  readonly default_recording: boolean | null;
}

export interface ProjectLookup {
  /** The project of requests that name none and have an organisation-wide key. Never archived. */
  standard(): ProjectEntry | Promise<ProjectEntry>;
  find(idOrName: string): ProjectEntry | Promise<ProjectEntry | undefined>;
  forget(id: string): void;
  forgetAll(): void;
}

/** Not a valid project name. */
const standardLookup = "";

/** @param isLive - true while changes of other servers arrive. */
export function createProjectLookup({ isJoined: isPrivate, query }: Database, isLive: () => boolean): ProjectLookup {
  const cache = createReadCache<ProjectEntry>({
    max: 1000,
    isLive,
    isPrivate,
    idOf: (project) => project.id,
    async load(lookup) {
      const rows = await query
        .selectFrom("projects")
        .select(["id", "name", "status", "network", "default_telemetry", "default_recording"])
        .where("deleted_at", "is", null)
        .where((where) =>
          lookup === standardLookup
            ? where("is_default", "=", true)
            : where.or([where("id", "=", lookup), where("name", "=", lookup)]),
        )
        .execute();
      return rows.find((project) => project.id === lookup) ?? rows[0];
    },
  });

  function present(project: ProjectEntry | undefined): ProjectEntry {
    if (project === undefined) throw new Error("The database holds no default project.");
    return project;
  }

  /** Starts of sessions read the project by its id: from memory, so that the limit of starts counts them at once. */
  function presentById(project: ProjectEntry | undefined): ProjectEntry {
    const found = present(project);
    void Promise.resolve(cache.get(found.id)).catch(() => undefined);
    return found;
  }

  return {
    standard() {
      const found = cache.get(standardLookup);
      return found instanceof Promise ? found.then(presentById) : found;
    },
    find: (idOrName) => (isStorable(idOrName) ? cache.get(idOrName) : Promise.resolve(undefined)),
    forget: (id) => {
      cache.forget(id);
    },
    forgetAll: () => {
      cache.forgetAll();
    },
  };
}
