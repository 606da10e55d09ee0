import type { Database } from "@shoal/database";
import { createReadCache } from "../read-cache.ts";

interface ProjectRow {
  readonly id: string;
  readonly name: string;
}

/** The organisation's projects. */
export interface Projects {
  readonly defaultId: string;
  /** By id, or else by name. */
  find(idOrName: string): ProjectRow | Promise<ProjectRow | undefined>;
  forget(id: string): void;
  forgetAll(): void;
}

/** @param isLive - whether changes of other servers are being heard. */
export async function openProjects(database: Database, isLive: () => boolean): Promise<Projects> {
  const standard = await database.query.selectFrom("projects").select("id").where("is_default", "=", true).executeTakeFirstOrThrow();
  const cache = createReadCache<ProjectRow>({
    max: 1000,
    isLive,
    idOf: (project) => project.id,
    async load(idOrName) {
      const rows = await database.query
        .selectFrom("projects")
        .select(["id", "name"])
        .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
        .execute();
      return rows.find((project) => project.id === idOrName) ?? rows[0];
    },
  });
  return { defaultId: standard.id, find: (idOrName) => cache.get(idOrName), forget: (id) => { cache.forget(id); }, forgetAll: () => { cache.forgetAll(); } };
}
