import pLimit from "p-limit";

/** Runs tasks with the same key one after another, in the order of their calls. Tasks with different keys run at once. */
export class KeyedMutex<Key> {
  readonly #limits = new Map<Key, ReturnType<typeof pLimit>>();

  /** Runs `task` when earlier tasks of this key have settled. Returns or throws what `task` does. */
  async run<T>(key: Key, task: () => T | PromiseLike<T>): Promise<T> {
    let limit = this.#limits.get(key);
    if (limit === undefined) {
      limit = pLimit(1);
      this.#limits.set(key, limit);
    }
    try {
      return await limit(async () => task());
    } finally {
      if (limit.activeCount === 0 && limit.pendingCount === 0 && this.#limits.get(key) === limit)
        this.#limits.delete(key);
    }
  }

  /** Number of keys with a task that runs or waits. */
  get size(): number {
    return this.#limits.size;
  }
}
