import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { projectHandlers } from "./handlers.ts";
import { createProjectStore } from "./project-store.ts";
import { Projects } from "./projects.ts";

export function projectsFeature(
  { database }: Host,
  { forgetKey, lookup }: { readonly forgetKey: (id: string) => void; readonly lookup: Pick<ProjectLookup, "forget"> },
) {
  const projects = new Projects(createProjectStore(database), (changed) => {
    for (const id of changed.projects) lookup.forget(id);
    for (const id of changed.keys ?? []) forgetKey(id);
  });
  return { handlers: projectHandlers(projects) } satisfies Feature;
}
