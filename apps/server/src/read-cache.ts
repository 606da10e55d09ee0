import { LRUCache } from "lru-cache";

/** Rows kept in memory, found by a lookup text (a hash, a name, an id), forgotten by the row's id. */
export interface ReadCache<Row extends object> {
  /** The row, from memory or loaded; one load for all who ask at once. A row that was not found is asked for again each time. */
  get(lookup: string): Row | Promise<Row | undefined>;
  /** The row, if it is in memory. */
  present(lookup: string): Row | undefined;
  /** Forgets a row under every lookup. What is being loaded meanwhile is handed out but not kept: it may be older than the change. */
  forget(id: string): void;
  forgetAll(): void;
}

/**
 * @param options.load - reads the row from the database.
 * @param options.idOf - the id by which changes are reported.
 * @param options.isLive - whether changes of other servers are being heard; while not, nothing is kept or served from memory.
 */
export function createReadCache<Row extends object>(options: {
  readonly max: number;
  load(lookup: string): Promise<Row | undefined>;
  idOf(row: Row): string;
  isLive(): boolean;
  /** Whether what is read here may be what nobody else can see: it is then neither kept nor shared, nor is a read of somebody else waited for. */
  isPrivate?(): boolean;
}): ReadCache<Row> {
  const lookupsOf = new Map<string, Set<string>>();
  const rows = new LRUCache<string, Row>({
    max: options.max,
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
    // Whoever asks from now on must not join a load that began before the change.
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
