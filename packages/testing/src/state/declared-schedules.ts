import type { AppDescription } from "@shoal/client/app";
import { createId } from "@shoal/primitives";
import type { DeploymentRow } from "./apps.ts";
import type { Store } from "./store.ts";

/** Replaces the schedules that the code of a version declared. Equal ones stay. */
export function replaceDeclared(
  store: Store,
  { projectId, version }: Pick<DeploymentRow, "projectId" | "version">,
  apps: readonly AppDescription[],
): void {
  for (const { name: app_name, schedules = [] } of apps) {
    const present = store.schedules.filter(
      (row) =>
        row.projectId === projectId && row.version === version && row.app_name === app_name && row.origin === "code",
    );
    for (const schedule of schedules) {
      const same = present.findIndex((row) =>
        Object.entries(schedule).every(([key, value]) => Reflect.get(row, key) === value),
      );
      if (same !== -1) present.splice(same, 1);
      else
        store.schedules.push({
          ...{ id: createId(), projectId, app_name, version, ...schedule },
          ...{ origin: "code", isPaused: false, created_at: new Date().toISOString() },
        });
    }
    for (const row of present) store.schedules.splice(store.schedules.indexOf(row), 1);
  }
}
