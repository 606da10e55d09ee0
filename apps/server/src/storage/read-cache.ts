import { recentlyUsed } from "./recently-used.ts";

export interface ReadCache<Row extends object> {
  /** Concurrent callers share one load. Missing rows are not cached. */
  get(lookup: string): Row | Promise<Row | undefined>;
  present(lookup: string): Row | undefined;
  /** Loads in progress are returned but not cached, since they may predate the change. */
  forget(id: string): void;
  forgetAll(): void;
}

/** @param options.isLive - whether this server receives changes of other servers; otherwise the cache is bypassed. */
export function createReadCache<Row extends object>(options: {
  readonly max: number;
  load(lookup: string): Promise<Row | undefined>;
  idOf(row: Row): string;
  isLive(): boolean;
  /** True inside an open transaction: reads may be uncommitted, so bypass the cache. */
  isPrivate?(): boolean;
}): ReadCache<Row> {
  const lookupsOf = new Map<string, Set<string>>();
  const rows = recentlyUsed<Row>(options.max, {
    dispose(row, lookup) {
      const id = options.idOf(row);
      const lookups = lookupsOf.get(id);
      lookups?.delete(lookup);
      if (lookups?.size === 0) lookupsOf.delete(id);
    },
  });
  const loading = new Map<string, Promise<Row | undefined>>();
  let changes = 0;

  async function load(lookup: string): Promise<Row | undefined> {
    const before = changes;
    const row = await options.load(lookup);
    if (row === undefined || changes !== before || !options.isLive()) return row;
    rows.set(lookup, row);
    const id = options.idOf(row);
    const lookups = lookupsOf.get(id);
    if (lookups === undefined) lookupsOf.set(id, new Set([lookup]));
    else lookups.add(lookup);
    return row;
  }

  function changed(): void {
    changes += 1;
    // Later callers must not join a load that began before the change.
    loading.clear();
  }

  const present = (lookup: string) => (options.isLive() ? rows.get(lookup) : undefined);

  return {
    present,
    get(lookup) {
      const row = present(lookup);
      if (row !== undefined) return row;
      if (options.isPrivate?.() === true) return options.load(lookup);
      const underway = loading.get(lookup);
      if (underway !== undefined) return underway;
      const started = load(lookup).finally(() => {
        if (loading.get(lookup) === started) loading.delete(lookup);
      });
      loading.set(lookup, started);
      return started;
    },
    forget(id) {
      changed();
      for (const lookup of [...(lookupsOf.get(id) ?? [])]) rows.delete(lookup);
    },
    forgetAll() {
      changed();
      rows.clear();
    },
  };
}
