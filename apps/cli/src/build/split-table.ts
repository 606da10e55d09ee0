import type { CommandSpec } from "../command-table.ts";
import type { Group } from "../groups.ts";
import type { CommandIndex } from "../program.ts";

/** Tables by the name of their file. */
export interface SplitTable {
  readonly index: CommandIndex;
  /** `of-profiles`: commands whose first word is `profiles`. */
  readonly tables: Readonly<Record<string, readonly CommandSpec[]>>;
}

/** An index of the commands and a table for each first word, so that a call reads one of them. */
export function splitTable(specs: readonly CommandSpec[], groups: Readonly<Record<string, Group>>, version: string): SplitTable {
  const below = Map.groupBy(specs.filter(({ words }) => words.length > 1), ({ words }) => words[0] ?? "");
  const used = Object.entries(groups).filter(([group]) => specs.some(({ words }) => words.slice(0, group.split(" ").length).join(" ") === group));
  return {
    index: { version, roots: specs.filter(({ words }) => words.length === 1), groups: Object.fromEntries(used), tables: [...below.keys()].sort() },
    tables: Object.fromEntries([...below].map(([word, table]) => [`of-${word}`, table])),
  };
}
