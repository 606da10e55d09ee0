import type { PlacementLog } from "../interface/placement-log.ts";
import type { ContainerEngine } from "./engine.ts";
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Names the session folder of the server that started the container. */
export const folderLabel = "dev.shoal.folder";

/**
 * Removes the containers of servers of this data folder whose own folder is gone: they ended, or were killed and their
 * folder was removed before.
 */
export async function removeLeftovers(
  engine: ContainerEngine,
  { log, sessionsDir }: { readonly log: PlacementLog; readonly sessionsDir: string },
): Promise<void> {
  const parent = resolve(sessionsDir);
  for (const { id, value: folder } of await engine.labelled(folderLabel)) {
    if (dirname(folder) !== parent || (await exists(folder))) continue;
    await engine.remove(id);
    log.info({ container: id, path: folder }, "Removed a container of a killed server.");
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
