import type { RestQuestion, RestReport } from "@shoal/instance";
import { messageOf } from "@shoal/primitives";
import type { Box, BoxMaker, BoxWishes, StoredBox, Viewport } from "../boxes/box.ts";
import type { InstanceCopy, PackedCopy, PlacementKind } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";

interface Storing {
  readonly log: PlacementLog;
  readonly project: string;
  readonly signal?: AbortSignal | undefined;
  readonly kind: PlacementKind;
  readonly ask: (question: RestQuestion) => Promise<RestReport>;
}

/** @throws {PlacementError} */
export async function storeInstance(box: Box, { ask, kind, log, project, signal }: Storing): Promise<StoredInstance> {
  if (box.store === undefined) throw new PlacementError("bad_option", "The session was not created as forkable.");
  try {
    const { busy } = await ask({ for_copy: true });
    if (busy !== null) throw new PlacementError("bad_option", `The session cannot be copied during ${busy}.`);
    const stored = await box.store({ project, signal });
    // For telemetry. Its processes may just have ended, or be stopped by a program of the session.
    await ask({ copied: { paused_ms: stored.pausedMs } }).catch((error: unknown) => {
      log.debug({ instance_id: box.id, error: messageOf(error) }, "An instance did not confirm that it was copied.");
    });
    return new StoredInstance(kind, stored);
  } catch (error) {
    signal?.throwIfAborted();
    if (PlacementError.isInstance(error)) throw error;
    throw new PlacementError("start_failed", `Instance ${box.id} could not be copied: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Starts copies in place of new instances. */
export class StoredInstance implements InstanceCopy, BoxMaker {
  readonly kind: PlacementKind;
  readonly pausedMs: number;
  readonly #box: StoredBox;
  readonly #dropped = Promise.withResolvers<void>();
  readonly dropped: Promise<void> = this.#dropped.promise;

  constructor(kind: PlacementKind, box: StoredBox) {
    this.kind = kind;
    this.pausedMs = box.pausedMs;
    this.#box = box;
  }

  start(id: string, _viewport: Viewport, wishes: BoxWishes = {}): Promise<Box> {
    return this.#box.start(id, wishes.signal);
  }

  pack(): Promise<PackedCopy> {
    return this.#box.pack();
  }

  async drop(): Promise<void> {
    await this.#box.drop();
    this.#dropped.resolve();
  }
}
