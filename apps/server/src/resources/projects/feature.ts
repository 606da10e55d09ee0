import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { projectHandlers } from "./handlers.ts";
import { ProjectStore } from "./project-store.ts";
import { Projects } from "./projects.ts";
import { reservedProjectNames } from "./reserved-names.ts";

export function projectsFeature(
  { config, database, settings }: Host,
  { forgetKey, lookup }: { readonly forgetKey: (id: string) => void; readonly lookup: Pick<ProjectLookup, "forget"> },
) {
  const projects = new Projects({
    store: new ProjectStore(database),
    forget(changed) {
      for (const id of changed.projects) lookup.forget(id);
      for (const id of changed.keys ?? []) forgetKey(id);
    },
    serviceDefaults: () => ({
      default_telemetry: [...settings.inForce.default_telemetry],
      default_recording: settings.inForce.default_recording,
    }),
    reservedNames: reservedProjectNames(config),
  });
  return { handlers: projectHandlers(projects) } satisfies Feature;
}
