/** The columns with names of blobs, by table, and their folder. */
const columns: Readonly<Record<string, { readonly area: string; readonly names: readonly string[] }>> = {
  deployments: { area: "deployments", names: ["artifact", "source_blob"] },
  extensions: { area: "extensions", names: ["blob"] },
  network_recordings: { area: "network-recordings", names: ["blob"] },
  profile_versions: { area: "profiles", names: ["blob"] },
  snapshots: { area: "snapshots", names: ["blob"] },
};

/** The blobs that rows of a backup name, as `profiles/NAME`. */
export class NamedFiles {
  readonly #names = new Set<string>();

  get size(): number {
    return this.#names.size;
  }

  /** @param rows - JSON objects. */
  note(table: string, rows: readonly string[]): void {
    const found = Object.hasOwn(columns, table) ? columns[table] : undefined;
    if (found === undefined) return;
    for (const row of rows) {
      const values = JSON.parse(row) as Readonly<Record<string, unknown>>;
      for (const column of found.names) {
        const name = values[column];
        if (typeof name === "string") this.#names.add(`${found.area}/${name}`);
      }
    }
  }

  /** The file is in the backup. */
  found(name: string): void {
    this.#names.delete(name);
  }

  example(): string | undefined {
    return this.#names.values().next().value;
  }
}
