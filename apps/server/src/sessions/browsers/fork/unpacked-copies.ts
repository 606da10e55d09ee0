import type { InstanceCopy, PackedCopy, Placement } from "@shoal/placement";

interface Unpacked {
  readonly copy: Promise<InstanceCopy>;
  readonly stop: AbortController;
  users: number;
}

interface UnpackedFor {
  readonly project: string;
  readonly signal: AbortSignal;
}

export interface UsedCopy {
  readonly copy: InstanceCopy;
  /** Removes it from memory after its last user. */
  readonly release: () => Promise<void>;
}

/** Packed copies in memory, while sessions start from them. Starts at the same time share one. */
export class UnpackedCopies {
  readonly #placement: Pick<Placement, "unpack">;
  readonly #copies = new Map<string, Unpacked>();

  constructor(placement: Pick<Placement, "unpack">) {
    this.#placement = placement;
  }

  /** @throws errors of `open` and {@link Placement.unpack}, and the reason of the signal. */
  async get(id: string, open: () => Promise<PackedCopy>, { project, signal }: UnpackedFor): Promise<UsedCopy> {
    signal.throwIfAborted();
    const used = this.#copies.get(id) ?? this.#unpack(id, open, project);
    used.users += 1;
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      left.reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return { copy: await Promise.race([used.copy, left.promise]), release: () => this.#release(id, used) };
    } catch (error) {
      await this.#release(id, used);
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #unpack(id: string, open: () => Promise<PackedCopy>, project: string): Unpacked {
    // The first caller may leave while others wait.
    const stop = new AbortController();
    const unpacked = { copy: this.#placement.unpack(open, { project, signal: stop.signal }), stop, users: 0 };
    this.#copies.set(id, unpacked);
    unpacked.copy.catch(() => {
      this.#forget(id, unpacked);
    });
    return unpacked;
  }

  #forget(id: string, unpacked: Unpacked): void {
    if (this.#copies.get(id) === unpacked) this.#copies.delete(id);
  }

  async #release(id: string, used: Unpacked): Promise<void> {
    used.users -= 1;
    if (used.users > 0) return;
    this.#forget(id, used);
    used.stop.abort(new Error("No session starts from this copy any more."));
    const copy = await used.copy.catch(() => undefined);
    await copy?.drop();
  }
}
