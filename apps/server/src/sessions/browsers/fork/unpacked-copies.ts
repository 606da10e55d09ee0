import type { InstanceCopy, PackedCopy, Placement } from "@shoal/placement";

interface Unpacked {
  readonly copy: Promise<InstanceCopy>;
  users: number;
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

  /** @throws errors of `open` and {@link Placement.unpack}. */
  async get(id: string, open: () => Promise<PackedCopy>): Promise<UsedCopy> {
    const used = this.#copies.get(id) ?? this.#unpack(id, open);
    used.users += 1;
    try {
      return { copy: await used.copy, release: () => this.#release(id, used) };
    } catch (error) {
      if (this.#copies.get(id) === used) this.#copies.delete(id);
      throw error;
    }
  }

  #unpack(id: string, open: () => Promise<PackedCopy>): Unpacked {
    // The first caller may leave while others wait. The placement has a time limit.
    const { signal } = new AbortController();
    const unpacked = { copy: open().then((packed) => this.#placement.unpack(packed, signal)), users: 0 };
    this.#copies.set(id, unpacked);
    return unpacked;
  }

  async #release(id: string, used: Unpacked): Promise<void> {
    used.users -= 1;
    if (used.users > 0) return;
    if (this.#copies.get(id) === used) this.#copies.delete(id);
    await (await used.copy).drop();
  }
}
