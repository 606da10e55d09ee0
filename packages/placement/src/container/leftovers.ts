import type { PlacementLog } from "../interface/placement-log.ts";
import type { ContainerEngine } from "./engine.ts";
import { messageOf } from "@shoal/primitives";
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Names the session folder of the server that started a container of the same machine. */
export const folderLabel = "dev.shoal.folder";

const idleStates: ReadonlySet<string> = new Set(["created", "exited", "dead"]);

/** Names the server process that started a container of another machine. */
export const serverLabel = "dev.shoal.server";

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

/**
 * Removes containers of servers on another machine that do not run: a killed server left them, or the engine did not
 * answer when they ended. Their instances end on their own. Call it once a minute: a container must be found twice,
 * because its own server may be about to start or to remove it.
 */
export class RemoteLeftovers {
  readonly #engine: ContainerEngine;
  readonly #log: PlacementLog;
  #found: ReadonlySet<string> = new Set();

  constructor(engine: ContainerEngine, log: PlacementLog) {
    this.#engine = engine;
    this.#log = log;
  }

  /** Never rejects. */
  async sweep(): Promise<void> {
    try {
      const all = await this.#engine.labelled(serverLabel);
      const over = all.filter(({ state }) => idleStates.has(state));
      for (const { id } of over) {
        if (!this.#found.has(id)) continue;
        await this.#engine.remove(id);
        this.#log.info(
          { container: id, engine: this.#engine.name },
          "Removed a container that its server did not remove.",
        );
      }
      this.#found = new Set(over.map(({ id }) => id));
    } catch (error) {
      const fields = { engine: this.#engine.name, error: messageOf(error) };
      this.#log.warn(fields, "Cannot look for containers that servers did not remove.");
    }
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
